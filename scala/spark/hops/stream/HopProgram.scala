package io.sash.spark.hops.stream

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.hops.HopPanes
import io.sash.spark.monoids.Algorithm
import io.sash.spark.slots.SlotProgram
import io.sash.spark.streams.checkpoint.StateSignature
import io.sash.spark.streams.program.{AnswerMode, WarmStart}

/**
 * The program of hop windows on a stream, which is sent to tasks.
 *
 * @param input the columns of a row
 * @param keys the ordinals of the grouping columns beside the window
 * @param pane the ordinal of the row's pane
 * @param slots the partials of all aggregates, side by side, then a count of rows
 * @param grows whether a partial may be as large as its rows
 * @param results the types of the answers
 * @param output a row of the answer, over the keys, the answers, and the window's start and end
 * @param mode when windows are answered
 * @param calls the aggregates over `input`; read in the plan, not in tasks
 * @param state describes the state, but for its history
 * @param start the history that the windows begin with, if there is one
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

  /** The text that describes the state; a state with another text is not used. */
  def text: String = StateSignature.begun(state, start.map(_.until))

  /**
   * The types of a lowered slot: the answers and the count of rows, then the window's start and
   * end.
   */
  def answerTypes: Seq[DataType] = results ++ Seq(LongType, LongType, LongType)

  def rowsOrdinal: Int = results.length

  def startOrdinal: Int = results.length + 1

  def endOrdinal: Int = results.length + 2
}
