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
   * The surroundings of some stretches that have rows.
   *
   * @param total the total of the stretches from one to before another; none if they have no
   *   rows, or if the aggregates have no totals
   */
  def surroundings(
      own: Range,
      all: StretchLayout,
      total: (Int, Int) => Option[Total]
  ): KnownSurroundings

  /** Whether two rows of stretches have to be compared. */
  def comparesRows: Boolean

  /** Whether no bound of a later row lies before the bound of an earlier one. */
  def isSteady(all: StretchLayout): Boolean = true
}

/** The frame is all rows. */
private[split] case object AllRows extends SplitFrame {
  override def comparesRows: Boolean = false

  override def surroundings(
      own: Range,
      all: StretchLayout,
      total: (Int, Int) => Option[Total]
  ): KnownSurroundings = KnownSurroundings(total = total(0, all.count))
}

/**
 * ROWS BETWEEN lower AND upper, as numbers of rows after the current one. The least and the
 * largest number are UNBOUNDED.
 */
private[split] final case class SplitRows(lower: Long, upper: Long) extends SplitFrame {
  override def comparesRows: Boolean = false

  override def surroundings(
      own: Range,
      all: StretchLayout,
      total: (Int, Int) => Option[Total]
  ): KnownSurroundings = {
    val (start, end) = (all.start(own.start), all.start(own.end))
    val older = olderThan(start, end, all, total)
    val (younger, youngerTotal) = youngerThan(own.end, end, all, total)
    older.copy(younger = younger, youngerTotal = youngerTotal)
  }

  private def olderThan(
      start: Long,
      end: Long,
      all: StretchLayout,
      total: (Int, Int) => Option[Total]
  ): KnownSurroundings = {
    def before(row: Long) = math.max(0L, math.min(start, row))
    val isUnbounded = lower == Long.MinValue
    // windows begin from `first` to `last`, and the earliest of them ends before `until`
    val first = if (isUnbounded) 0L else before(start + lower)
    val last = if (isUnbounded) 0L else before(end - 1 + lower)
    val until = if (upper >= 0) start else before(start + upper + 1)
    val (from, to) = (all.firstFrom(last), all.firstBehind(until))
    val middle = if (from < to) total(from, to) else None
    if (middle.isEmpty) KnownSurroundings(far = all.rows(first, start))
    else
      KnownSurroundings(
        far = all.rows(first, all.start(from)),
        total = middle,
        near = all.rows(all.start(to), start)
      )
  }

  private def youngerThan(
      next: Int,
      end: Long,
      all: StretchLayout,
      total: (Int, Int) => Option[Total]
  ): (Seq[StretchRows], Option[Total]) =
    if (upper < Long.MaxValue) {
      (all.rows(end, math.min(all.start(all.count), end + math.max(0L, upper))), None)
    } else {
      val begin = math.min(all.start(all.count), math.max(end, end - 1 + lower))
      val from = math.max(next, all.firstFrom(begin))
      (all.rows(end, all.start(from)), total(from, all.count))
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

  override def surroundings(
      own: Range,
      all: StretchLayout,
      total: (Int, Int) => Option[Total]
  ): KnownSurroundings = {
    val (i, head, last) = (own.start, all.firstRow(own), all.lastRow(own))
    def firstOlder(from: Int)(is: StretchSummary => Boolean) =
      (from until i).find(s => !all.isEmpty(s) && is(all(s))).getOrElse(i)
    // the first windows begin in stretch `first`, the last ones before stretch `from`
    val first =
      if (isUnboundedBelow) 0 else firstOlder(0)(s => !bounds.isBelow(s.last, head))
    val from =
      if (isUnboundedBelow) 0
      else math.min(i, 1 + firstOlder(first)(s => !bounds.isBelow(s.last, last)))
    val to = firstOlder(from)(s => bounds.isAbove(s.last, head))
    val middle = if (from < to) total(from, to) else None
    val (younger, youngerTotal) = youngerThan(own.end, last, all, total)
    if (middle.isEmpty) KnownSurroundings(all.wholes(first, i), None, Nil, younger, youngerTotal)
    else
      KnownSurroundings(all.wholes(first, from), middle, all.wholes(to, i), younger, youngerTotal)
  }

  /**
   * False if a bound overflows its type near an end of the order: as an error, or so that it lies
   * on the other side of its row. A bound that overflows does so for the first or the last rows.
   */
  override def isSteady(all: StretchLayout): Boolean =
    try all.ends.map(r => (bounds.isBelow(r, r), bounds.isAbove(r, r))).distinct.length <= 1
    catch { case _: ArithmeticException | _: DateTimeException => false }

  private def youngerThan(
      next: Int,
      own: InternalRow,
      all: StretchLayout,
      total: (Int, Int) => Option[Total]
  ): (Seq[StretchRows], Option[Total]) = {
    def until(is: StretchSummary => Boolean) =
      (next until all.count).find(s => !all.isEmpty(s) && is(all(s))).getOrElse(all.count)
    val end =
      if (isUnboundedAbove) until(s => !bounds.isBelow(s.first, own))
      else until(s => bounds.isAbove(s.first, own))
    (all.wholes(next, end), if (isUnboundedAbove) total(end, all.count) else None)
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
