package io.sash.spark.split

import java.time.DateTimeException

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.frames.{KeyBound, KeyRing, RangeKeys}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns
import io.sash.spark.windows.{KeysView, RingProgram, Total}

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
    val (younger, youngerTotal) = this.younger(last.in(own), last, stage)
    older(first.in(own), first, stage).copy(younger = younger, youngerTotal = youngerTotal)
  }

  /** The rows and totals of a key before some of its parts, which are a task's own. */
  protected def older(own: Range, all: SplitKey, stage: Int): KnownSurroundings

  /** The rows of a key behind some of its parts, and the total behind these rows. */
  protected def younger(
      own: Range,
      all: SplitKey,
      stage: Int
  ): (Seq[StretchRows], Option[Total])

  /** Whether two rows of stretches have to be compared. */
  def comparesRows: Boolean

  /** Whether no bound of a later row of a key lies before the bound of an earlier one. */
  def isSteady(all: SplitKey): Boolean = true
}

/** The frame is all rows, without PARTITION BY. */
private[split] case object AllRows extends SplitFrame {
  override def comparesRows: Boolean = false

  override def older(own: Range, all: SplitKey, stage: Int): KnownSurroundings =
    KnownSurroundings(total = all.total(stage, 0, all.count))

  override def younger(
      own: Range,
      all: SplitKey,
      stage: Int
  ): (Seq[StretchRows], Option[Total]) = (Nil, None)
}

/**
 * ROWS BETWEEN lower AND upper, as numbers of rows after the current one. The least and the
 * largest number are UNBOUNDED.
 */
private[split] final case class SplitRows(lower: Long, upper: Long) extends SplitFrame {
  override def comparesRows: Boolean = false

  override def older(own: Range, all: SplitKey, stage: Int): KnownSurroundings = {
    val (start, end) = (all.start(own.start), all.start(own.end))
    def before(row: Long) = math.max(0L, math.min(start, row))
    val isUnbounded = lower == Long.MinValue
    // windows begin from `first` to `last`, and the earliest of them ends before `until`
    val first = if (isUnbounded) 0L else before(start + lower)
    val last = if (isUnbounded) 0L else before(end - 1 + lower)
    val until = if (upper >= 0) start else before(start + upper + 1)
    val (from, to) = (all.firstFrom(last), all.firstBehind(until))
    val middle = all.total(stage, from, to)
    if (middle.isEmpty) KnownSurroundings(far = all.rows(first, start))
    else
      KnownSurroundings(
        far = all.rows(first, all.start(from)),
        total = middle,
        near = all.rows(all.start(to), start)
      )
  }

  override def younger(
      own: Range,
      all: SplitKey,
      stage: Int
  ): (Seq[StretchRows], Option[Total]) = {
    val end = all.start(own.end)
    if (upper < Long.MaxValue) {
      (all.rows(end, math.min(all.start(all.count), end + math.max(0L, upper))), None)
    } else {
      val begin = math.min(all.start(all.count), math.max(end, end - 1 + lower))
      val from = math.max(own.end, all.firstFrom(begin))
      (all.rows(end, all.start(from)), all.total(stage, from, all.count))
    }
  }
}

/**
 * RANGE BETWEEN two bounds of the window's order. Compares first and last rows of stretches as
 * the frame itself compares rows.
 *
 * @param rings the keys of the rows
 * @param view the frame's use of them
 */
private[split] final case class SplitRange(rings: Seq[RingProgram], view: KeysView)
    extends SplitFrame {
  @transient private lazy val bounds = new StretchBounds(this)
  private val isUnboundedBelow = view.lower == KeyBound.Unbounded
  private val isUnboundedAbove = view.upper == KeyBound.Unbounded

  override def comparesRows: Boolean = true

  override def older(own: Range, all: SplitKey, stage: Int): KnownSurroundings = {
    val (i, head, last) = (own.start, all.first(own.start), all.last(own.end - 1))
    def firstOlder(from: Int)(is: InternalRow => Boolean) =
      (from until i).find(s => is(all.last(s))).getOrElse(i)
    // the first windows begin in part `first`, the last ones before part `from`
    val first =
      if (isUnboundedBelow) 0 else firstOlder(0)(!bounds.isBelow(_, head))
    val from =
      if (isUnboundedBelow) 0
      else math.min(i, 1 + firstOlder(first)(!bounds.isBelow(_, last)))
    val to = firstOlder(from)(bounds.isAbove(_, head))
    val middle = all.total(stage, from, to)
    if (middle.isEmpty) KnownSurroundings(all.wholes(first, i))
    else KnownSurroundings(all.wholes(first, from), middle, all.wholes(to, i))
  }

  /**
   * False if a bound overflows its type near an end of the order: as an error, or so that it lies
   * on the other side of its row. A bound that overflows does so for the first or the last rows.
   */
  override def isSteady(all: SplitKey): Boolean =
    try all.rowsAtEnds.map(r => (bounds.isBelow(r, r), bounds.isAbove(r, r))).distinct.length <= 1
    catch { case _: ArithmeticException | _: DateTimeException => false }

  override def younger(
      own: Range,
      all: SplitKey,
      stage: Int
  ): (Seq[StretchRows], Option[Total]) = {
    val (next, last) = (own.end, all.last(own.end - 1))
    def until(is: InternalRow => Boolean) =
      (next until all.count).find(s => is(all.first(s))).getOrElse(all.count)
    val end =
      if (isUnboundedAbove) until(!bounds.isBelow(_, last))
      else until(bounds.isAbove(_, last))
    (all.wholes(next, end), if (isUnboundedAbove) all.total(stage, end, all.count) else None)
  }
}

/** Compares a row with the bounds of another row's frame. */
private[split] final class StretchBounds(frame: SplitRange) {
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
