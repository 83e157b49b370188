package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression

import io.sash.spark.streams.state.StreamState

/** The windows of a query as they are read from its state, which are sent to tasks. */
private[read] abstract class ReadProgram extends Serializable {
  def over(state: StreamState): BucketWindows
}

/** The windows in the state of one bucket after the other. Nothing is written. */
private[read] abstract class BucketWindows {

  /**
   * The answers of keys in the bucket whose state is open, each valid until the next.
   *
   * @param asked the values of the keys; None is all keys that the state has
   */
  def answers(asked: Option[Seq[InternalRow]], moment: ReadMoment): Iterator[InternalRow]
}

/**
 * The moment whose windows are read.
 *
 * @param at in microseconds; None is the time of each key's last row
 * @param widths the columns from which windows have each row's own width, by their ordinals in
 *   the program's input, and their values over the key and the time
 */
private[read] final case class ReadMoment(at: Option[Long], widths: Seq[(Int, Expression)])
