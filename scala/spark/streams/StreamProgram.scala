package io.sash.spark.streams

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

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
 * @param marks what frames and slides look at in a row, each a BIGINT
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
    windows: Seq[StreamFraming],
    marks: Seq[Expression],
    results: Seq[DataType],
    output: Seq[Expression],
    text: String
) {

  /** Whether a key without rows for long enough has empty windows. */
  def expires: Boolean = windows.forall(_.frame.expires)

  /** The same windows over some of the columns, for some of the columns that a row becomes. */
  def pruned(kept: Seq[Int]): StreamProgram = {
    val wanted = kept.map(output)
    val lifted = slots.parts.flatMap(_.lift)
    val used = AttributeSet.fromAttributeSets(
      (wanted ++ keys ++ order ++ lifted ++ marks).map(_.references)
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
