package io.sash.spark.hops.stream

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.hops.HopPanes
import io.sash.spark.monoids.Algorithm
import io.sash.spark.slots.SlotProgram
import io.sash.spark.streams.checkpoint.StateSignature
import io.sash.spark.streams.program.{AnswerMode, WarmStart}

/**
 * The recipe of hop windows on a stream, serializable for tasks.
 *
 * @param input the columns of a row
 * @param keys the ordinals of the grouping columns other than the window
 * @param pane the ordinal of the row's pane
 * @param slots a slot has the partials of all aggregates, then a count of rows
 * @param grows whether a partial may be as large as its rows
 * @param results the types of the answers
 * @param output the output row, over the keys and a row of `answerTypes`
 * @param mode decides when windows are answered
 * @param calls the aggregates over `input`; read in the plan, not in tasks
 * @param state the signature of the state, without its history
 * @param start the history with which the windows begin; none without one
 */
private[spark] final case class HopProgram(
    input: Seq[Attribute],
    keys: Seq[Int],
    pane: Int,
    hops: HopPanes,
    algorithm: Algorithm,
    slots: SlotProgram,
    grows: Boolean,
    results: Seq[DataType],
    output: Seq[Expression],
    mode: AnswerMode,
    @transient calls: Seq[Expression],
    state: String,
    start: Option[WarmStart] = None
) {

  /** The signature of the state. A state with another signature is not used. */
  def text: String = StateSignature.begun(state, start.map(_.until))

  /**
   * The types of a window's row: the answers, the count of rows, the window's start and its end.
   */
  def answerTypes: Seq[DataType] = results ++ Seq(LongType, LongType, LongType)

  def rowsOrdinal: Int = results.length

  def startOrdinal: Int = results.length + 1

  def endOrdinal: Int = results.length + 2
}
