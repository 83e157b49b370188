package io.sash.spark.split

import java.time.DateTimeException

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.frames.{KeyBound, KeyRing, RangeKeys}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns
import io.sash.spark.split.Surroundings.Element
import io.sash.spark.windows.{KeysView, RingProgram}

/** The rows of other stretches that the windows of a stretch hold. */
private[split] sealed abstract class SplitFrame extends Serializable {

  /**
   * The surroundings of some stretches.
   *
   * @param first their first key, which may go on from older stretches
   * @param last their last key, which may go on in younger stretches
   * @param stage the number of the frame's stage
   */
  final def surroundings(
      own: Range,
      first: SplitKey,
      last: SplitKey,
      stage: Int
  ): KnownSurroundings = {
    KnownSurroundings(
      older(first.in(own), first, stage),
      walked(first.in(own).start, first, stage),
      younger(last.in(own), last, stage)
    )
  }

  /** The rows and totals of a key before some of its parts, which are a task's own. */
  protected def older(own: Range, all: SplitKey, stage: Int): Seq[Element]

  /** The rows and totals of a key behind some of its parts. */
  protected def younger(own: Range, all: SplitKey, stage: Int): Seq[Element]

  /** How many of the rows before part `i` decide where the windows of later rows are. */
  protected def walked(i: Int, all: SplitKey, stage: Int): Long = 0L

  /** Whether two rows of stretches have to be compared. */
  def comparesRows: Boolean

  /** Finds rows by their bounds, if the order of the rows is not the order of their bounds. */
  def search: Option[BoundSearch] = None

  /** Whether tasks can answer a key's rows in parts. */
  def isSteady(all: SplitKey, stage: Int): Boolean = true
}

/** The frame is all rows, without PARTITION BY. */
private[split] case object AllRows extends SplitFrame {
  override def comparesRows: Boolean = false

  override def older(own: Range, all: SplitKey, stage: Int): Seq[Element] =
    all.total(stage, 0, all.count).map(scala.util.Right(_)).toSeq

  override def younger(own: Range, all: SplitKey, stage: Int): Seq[Element] = Nil
}

/**
 * ROWS BETWEEN lower AND upper, as numbers of rows after the current one. The least and the
 * largest number are UNBOUNDED.
 */
private[split] final case class SplitRows(lower: Long, upper: Long) extends SplitFrame {
  override def comparesRows: Boolean = false

  override def older(own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val (start, end) = (all.start(own.start), all.start(own.end))
    def before(row: Long) = math.max(0L, math.min(start, row))
    val isUnbounded = lower == Long.MinValue
    // windows begin from `first` to `last`, and the earliest of them ends before `until`
    val first = if (isUnbounded) 0L else before(start + lower)
    val last = if (isUnbounded) 0L else before(end - 1 + lower)
    val until = if (upper >= 0) start else before(start + upper + 1)
    val (from, to) = (all.firstFrom(last), all.firstBehind(until))
    all.elements(stage, first, from until to, start)
  }

  override def younger(own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val (end, last) = (all.start(own.end), all.start(all.count))
    if (upper < Long.MaxValue) {
      all.elements(stage, end, 0 until 0, math.min(last, end + math.max(0L, upper)))
    } else {
      val begin = math.min(last, math.max(end, end - 1 + lower))
      all.elements(stage, end, math.max(own.end, all.firstFrom(begin)) until all.count, last)
    }
  }
}

/** A frame that compares the keys of rows with bounds. Stretches are compared likewise. */
private[split] sealed abstract class SplitByBounds extends SplitFrame {

  /** The keys of the rows. */
  def rings: Seq[RingProgram]

  /** The frame's use of them. */
  def view: KeysView

  @transient protected final lazy val bounds: StretchBounds = new StretchBounds(this)

  override final def comparesRows: Boolean = true
}

/**
 * RANGE BETWEEN two bounds of the window's order.
 *
 * @param rises whether no bound of a later row lies before the bound of an earlier one. If one
 *   does, a window still begins and ends no earlier than the windows of the rows before
 * @param mayOverflow whether a bound may lie outside of its type
 */
private[split] final case class SplitRange(
    rings: Seq[RingProgram],
    view: KeysView,
    rises: Boolean,
    mayOverflow: Boolean
) extends SplitByBounds {
  private val isUnboundedBelow = view.lower == KeyBound.Unbounded
  private val isUnboundedAbove = view.upper == KeyBound.Unbounded

  override def search: Option[BoundSearch] =
    Option.when(!rises)(new BoundSearch(rings(view.ring), view))

  override protected def walked(i: Int, all: SplitKey, stage: Int): Long =
    all.start(i) - all.start(all.walkedFrom(stage, i))

  /** The row with the greatest bound of all rows that decide where a task's windows are. */
  private def farthest(own: Range, all: SplitKey, stage: Int)(
      of: WindowEnds => Option[BoundEnds]
  ): InternalRow = {
    val last = all.last(own.end - 1)
    if (rises) last
    else
      of(all.ends(stage, all.walkedFrom(stage, own.start) until own.end)).fold(last)(_.greatest)
  }

  override def older(own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val (i, head) = (own.start, all.first(own.start))
    val walked = all.walkedFrom(stage, i)
    def firstOlder(from: Int)(is: InternalRow => Boolean) =
      (from until i).find(s => is(all.last(s))).getOrElse(i)
    // the first windows begin in part `first`, the last ones before part `from`
    val first =
      if (isUnboundedBelow) 0 else firstOlder(0)(!bounds.isBelow(_, head))
    lazy val last = farthest(own, all, stage)(_.lower)
    val from =
      if (isUnboundedBelow) 0
      else math.min(walked, 1 + firstOlder(first)(!bounds.isBelow(_, last)))
    val to = math.min(walked, firstOlder(from)(bounds.isAbove(_, head)))
    all.elements(stage, all.start(math.min(first, walked)), from until to, all.start(i))
  }

  /**
   * False if a bound overflows its type near an end of the order: as an error, or so that it lies
   * on the other side of its row. A bound that overflows does so for the first or the last rows.
   * A row without a value (NULL) has the rows like it as its window.
   */
  override def isSteady(all: SplitKey, stage: Int): Boolean = all.knowsBounds(stage) && {
    def sidesOf(row: InternalRow) = (bounds.isBelow(row, row), bounds.isAbove(row, row))
    try !mayOverflow || all.valuesAtEnds.map(sidesOf).distinct.length <= 1
    catch { case _: ArithmeticException | _: DateTimeException => false }
  }

  /** The younger parts that the windows of all own rows hold. */
  private def heldAhead(own: Range, younger: Range, all: SplitKey): Range =
    if (!rises) 0 until 0
    else {
      val (head, last) = (all.first(own.start), all.last(own.end - 1))
      younger
        .dropWhile(i => !isUnboundedBelow && bounds.isBelow(all.first(i), last))
        .takeWhile(i => !bounds.isAbove(all.last(i), head))
    }

  override def younger(own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val next = own.end
    lazy val last = farthest(own, all, stage)(if (isUnboundedAbove) _.lower else _.upper)
    def until(is: InternalRow => Boolean) =
      (next until all.count).find(s => is(all.first(s))).getOrElse(all.count)
    if (isUnboundedAbove) {
      val end = until(!bounds.isBelow(_, last))
      all.elements(stage, all.start(next), end until all.count, all.start(all.count))
    } else {
      val end = until(bounds.isAbove(_, last))
      val held = heldAhead(own, next until end, all)
      all.elements(stage, all.start(next), held, all.start(end))
    }
  }
}

/**
 * The rows between two bounds that each row says, such as the label of a correlated subquery.
 * They may lie anywhere. A stretch that all windows of a task hold is read as its total, one that
 * none holds is not read.
 */
private[split] final case class SplitOwnBounds(rings: Seq[RingProgram], view: KeysView)
    extends SplitByBounds {
  override def search: Option[BoundSearch] = Some(new BoundSearch(rings(view.ring), view))

  override def older(own: Range, all: SplitKey, stage: Int): Seq[Element] =
    held(0 until own.start, own, all, stage)

  override def younger(own: Range, all: SplitKey, stage: Int): Seq[Element] =
    held(own.end until all.count, own, all, stage)

  /** The rows and totals of some parts. */
  private def held(parts: Range, own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val WindowEnds(lower, upper, _) = all.ends(stage, own)
    def isOut(i: Int) = lower.exists(l => bounds.isBelow(all.last(i), l.least)) ||
      upper.exists(u => bounds.isAbove(all.first(i), u.greatest))
    def isIn(i: Int) = lower.forall(l => !bounds.isBelow(all.first(i), l.greatest)) &&
      upper.forall(u => !bounds.isAbove(all.last(i), u.least))
    val read = if (lower.isEmpty && upper.isEmpty) Nil else parts.filterNot(isOut)
    // both are runs of neighbouring parts
    val totals = read.filter(isIn)
    if (read.isEmpty) Nil
    else
      all.elements(
        stage,
        all.start(read.head),
        if (totals.isEmpty) 0 until 0 else totals.head until totals.last + 1,
        all.start(read.last + 1)
      )
  }
}

/** Compares a row with the bounds of another row's frame. */
private[split] final class StretchBounds(frame: SplitByBounds) {
  private[this] val keyRings = frame.rings.toIndexedSeq.map { r =>
    val columns = SlotColumns(r.slots).accountedBy(WindowMemory.Unlimited, r.slots)
    new KeyRing(columns, r.users)
  }
  private[this] val keys: RangeKeys = frame.view.of(keyRings)

  def isBelow(row: InternalRow, of: InternalRow): Boolean = {
    take(row, of)
    keys.isBelow(0L, 1L)
  }

  def isAbove(row: InternalRow, of: InternalRow): Boolean = {
    take(row, of)
    keys.isAbove(0L, 1L)
  }

  private def take(rows: InternalRow*): Unit = {
    keys.clear()
    rows.foreach { row =>
      val slot = keys.open()
      keys.ring.column.asInstanceOf[SlotColumns].lift(slot, row)
    }
  }
}
