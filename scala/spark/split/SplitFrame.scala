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
      younger(last.in(own), last, stage)
    )
  }

  /** The rows and totals of a key before some of its parts, which are a task's own. */
  protected def older(own: Range, all: SplitKey, stage: Int): Seq[Element]

  /** The rows and totals of a key behind some of its parts. */
  protected def younger(own: Range, all: SplitKey, stage: Int): Seq[Element]

  /** Whether two rows of stretches have to be compared. */
  def comparesRows: Boolean

  /** Whether tasks can answer a key's rows in parts. */
  def isSteady(all: SplitKey): Boolean = true
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

/**
 * RANGE BETWEEN two bounds at fixed distances in the window's order: no bound of a later row lies
 * before the bound of an earlier one. Stretches are compared with bounds as rows are.
 *
 * @param rings the keys of the rows
 * @param view the frame's use of them
 * @param mayOverflow whether a bound may lie outside of its type
 */
private[split] final case class SplitRange(
    rings: Seq[RingProgram],
    view: KeysView,
    mayOverflow: Boolean
) extends SplitFrame {
  private val isUnboundedBelow = view.lower == KeyBound.Unbounded
  private val isUnboundedAbove = view.upper == KeyBound.Unbounded

  @transient private lazy val bounds: StretchBounds = new StretchBounds(rings, view)

  override def comparesRows: Boolean = true

  override def older(own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val (i, head, last) = (own.start, all.first(own.start), all.last(own.end - 1))
    def firstOlder(from: Int)(is: InternalRow => Boolean) =
      (from until i).find(s => is(all.last(s))).getOrElse(i)
    // the first windows begin in part `first`, the last ones before part `from`
    val first =
      if (isUnboundedBelow) 0 else firstOlder(0)(!bounds.isBelow(_, head))
    val from =
      if (isUnboundedBelow) 0 else math.min(i, 1 + firstOlder(first)(!bounds.isBelow(_, last)))
    val to = firstOlder(from)(bounds.isAbove(_, head))
    all.elements(stage, all.start(first), from until to, all.start(i))
  }

  /**
   * False if a bound overflows its type near an end of the order: as an error, or so that it lies
   * on the other side of its row. A bound that overflows does so for the first or the last rows.
   * A row without a value (NULL) has the rows like it as its window.
   */
  override def isSteady(all: SplitKey): Boolean = {
    def sidesOf(row: InternalRow) = (bounds.isBelow(row, row), bounds.isAbove(row, row))
    try !mayOverflow || all.valuesAtEnds.map(sidesOf).distinct.length <= 1
    catch { case _: ArithmeticException | _: DateTimeException => false }
  }

  override def younger(own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val (next, head, last) = (own.end, all.first(own.start), all.last(own.end - 1))
    def until(is: InternalRow => Boolean) =
      (next until all.count).find(s => is(all.first(s))).getOrElse(all.count)
    if (isUnboundedAbove) {
      val end = until(!bounds.isBelow(_, last))
      all.elements(stage, all.start(next), end until all.count, all.start(all.count))
    } else {
      val end = until(bounds.isAbove(_, last))
      // the parts that the windows of all own rows hold
      val held = (next until end)
        .dropWhile(s => !isUnboundedBelow && bounds.isBelow(all.first(s), last))
        .takeWhile(s => !bounds.isAbove(all.last(s), head))
      all.elements(stage, all.start(next), held, all.start(end))
    }
  }
}

/** Compares a row with the bounds of another row's frame. */
private[split] final class StretchBounds(rings: Seq[RingProgram], view: KeysView) {
  private[this] val keys: RangeKeys = view.of(rings.toIndexedSeq.map { r =>
    val columns = SlotColumns(r.slots).accountedBy(WindowMemory.Unlimited, r.slots)
    new KeyRing(columns, r.users)
  })

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
