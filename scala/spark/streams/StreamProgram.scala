package io.sash.spark.streams

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.core.stored.{RadixWindow, StoredWindows}
import io.sash.spark.slots.SlotProgram

/**
 * The windows of one OVER on a stream, ready to be sent to tasks.
 *
 * @param input the columns of a row
 * @param keys what rows are partitioned by, equal in bytes where it is equal
 * @param time the ordinal of the event time
 * @param order by which the rows of a key are taken, the event time first
 * @param slots the elements: partials of all aggregates, side by side; range w of their results
 *   are those of window w
 * @param bounds times that ranges begin or end at, over a row
 * @param results types of the answers
 * @param output what a row becomes, over its columns and its answers behind them
 * @param text what the state was written for; another one's state is of no use
 */
private[spark] final case class StreamProgram(
    input: Seq[Attribute],
    keys: Seq[Expression],
    time: Int,
    order: Seq[SortOrder],
    slots: SlotProgram,
    windows: Seq[StreamWindow],
    bounds: Seq[Expression],
    results: Seq[DataType],
    output: Seq[Expression],
    text: String
) {

  /** Whether a key without rows for long enough has empty windows. */
  def expires: Boolean = windows.forall(_.expires)

  /** The same windows over some of the columns, for some of the columns that a row becomes. */
  def pruned(kept: Seq[Int]): StreamProgram = {
    val wanted = kept.map(output)
    val lifted = slots.parts.flatMap(_.lift)
    val used = AttributeSet.fromAttributeSets(
      (wanted ++ keys ++ order ++ lifted ++ bounds).map(_.references)
    )
    val columns = input.indices.filter(i => i == input.length - 1 || used.contains(input(i)))
    val gone = input.length - columns.length
    copy(
      input = columns.map(input),
      time = columns.indexOf(time),
      slots = slots.copy(input = columns.map(input)),
      output = wanted.map(_.transform { case b: BoundReference =>
        b.copy(ordinal = b.ordinal - gone)
      }),
      text = s"$text; of the columns only ${columns.mkString(", ")}"
    )
  }
}

/** Which of the rows so far the window of a row holds. */
private[spark] sealed abstract class StreamWindow extends Serializable {

  /** Whether it ends before the row it is of, so that elements enter later than they come. */
  def lags: Boolean

  /** Whether elements leave. */
  def evicts: Boolean

  /** Whether it is empty once a key has had no rows for long enough. */
  def expires: Boolean

  def shape: StoredWindows.Shape = StoredWindows.Shape(evicts, lags)

  /** Whether rows of one time have one answer. */
  def isOfPeers: Boolean

  /**
   * Moves the window to the last of `end` rows.
   *
   * @param bounds that row's values of the program's `bounds`
   */
  def move(window: RadixWindow, end: Long, bounds: Array[Long]): Unit
}

/**
 * ROWS BETWEEN `preceding` PRECEDING AND `until` PRECEDING.
 *
 * @param preceding none if the window only grows
 */
private[spark] final case class StreamRows(preceding: Option[Long], until: Long)
    extends StreamWindow {
  private[this] val first = preceding.getOrElse(-1L)

  override def lags: Boolean = until > 0

  override def evicts: Boolean = preceding.nonEmpty

  override def expires: Boolean = false

  override def isOfPeers: Boolean = false

  override def move(window: RadixWindow, end: Long, bounds: Array[Long]): Unit = {
    if (lags) window.insertTo(math.max(0L, end - until))
    if (evicts) window.evictTo(math.min(window.back, math.max(0L, end - 1 - first)))
  }
}

/**
 * RANGE BETWEEN … PRECEDING AND … PRECEDING.
 *
 * @param preceding the number of the bound, none if the window only grows
 * @param until likewise, none if it ends with the row's peers
 */
private[spark] final case class StreamRange(preceding: Option[Int], until: Option[Int])
    extends StreamWindow {
  private[this] val (first, last) = (preceding.getOrElse(-1), until.getOrElse(-1))

  override def lags: Boolean = until.nonEmpty

  override def evicts: Boolean = preceding.nonEmpty

  override def expires: Boolean = evicts

  override def isOfPeers: Boolean = true

  override def move(window: RadixWindow, end: Long, bounds: Array[Long]): Unit = {
    if (lags) window.insertUntil(bounds(last))
    if (evicts) window.evictBefore(bounds(first))
  }
}
