package io.sash.spark.split

import java.time.DateTimeException

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.frames.{KeyBound, KeyRing, RangeKeys}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns
import io.sash.spark.split.Surroundings.Element
import io.sash.spark.windows.{KeysView, RingProgram}

/** A frame of a divided window. It finds the rows of other stretches that windows hold. */
private[split] sealed abstract class SplitFrame extends Serializable {

  /**
   * The surroundings of some stretches.
   *
   * @param own the numbers of the stretches
   * @param first their first key, which may continue from older stretches
   * @param last their last key, which may continue in younger stretches
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

  /** The rows and totals of a key before the parts `own`. */
  protected def older(own: Range, all: SplitKey, stage: Int): Seq[Element]

  /** The rows and totals of a key after the parts `own`. */
  protected def younger(own: Range, all: SplitKey, stage: Int): Seq[Element]

  /** Whether the frame compares the first and last rows of stretches. */
  def comparesRows: Boolean

  /** Whether tasks can answer a key in parts. If not, one task answers all rows. */
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
 * greatest BIGINT mean UNBOUNDED.
 */
private[split] final case class SplitRows(lower: Long, upper: Long) extends SplitFrame {
  override def comparesRows: Boolean = false

  override def older(own: Range, all: SplitKey, stage: Int): Seq[Element] = {
    val (start, end) = (all.start(own.start), all.start(own.end))
    def before(row: Long) = math.max(0L, math.min(start, row))
    val isUnbounded = lower == Long.MinValue
    // windows begin between `first` and `last`, and all of them hold the rows up to `until`
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
 * RANGE BETWEEN two bounds that never move back from row to row. So the first and last rows of
 * stretches, compared with the bounds of the task's first and last row, tell which rows windows
 * hold.
 *
 * @param rings the programs of the rows' keys
 * @param view the frame's bounds over these keys
 * @param mayOverflow whether a bound may overflow its type
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
    // the task's first window begins in part `first`, and its last window before part `from`
    val first =
      if (isUnboundedBelow) 0 else firstOlder(0)(!bounds.isBelow(_, head))
    val from =
      if (isUnboundedBelow) 0 else math.min(i, 1 + firstOlder(first)(!bounds.isBelow(_, last)))
    val to = firstOlder(from)(bounds.isAbove(_, head))
    all.elements(stage, all.start(first), from until to, all.start(i))
  }

  /**
   * False if a bound overflows its type: with an error, or so that it wraps to the other side of
   * its row. If a bound overflows, it does so for the first or the last rows, so only they are
   * checked. Rows with NULL are not, since their window is their peers.
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
      // the parts that lie in the windows of all own rows
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
