package io.sash.spark.hops.stream

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.hops.HopPanes
import io.sash.spark.slots.SlotProgram
import io.sash.spark.streams.program.AnswerMode

/**
 * Hops over a stream, ready to be sent to tasks.
 *
 * @param input the columns of a row
 * @param keys ordinals of what rows are grouped by beside the window
 * @param pane the ordinal of the row's pane
 * @param slots the partials of all aggregates, side by side, and behind them a count of rows
 * @param results types of the answers
 * @param output a row of the answer, over the keys, the answers, and the window's start and end
 * @param mode when windows are answered
 * @param calls what is asked, over `input`; where the plan is read, not in tasks
 * @param text what the state was written for; another one's state is of no use
 */
private[spark] final case class HopProgram(
    input: Seq[Attribute],
    keys: Seq[Int],
    pane: Int,
    hops: HopPanes,
    slots: SlotProgram,
    results: Seq[DataType],
    output: Seq[Expression],
    mode: AnswerMode,
    @transient calls: Seq[Expression],
    text: String
) {

  /** What a slot is lowered to, and the window behind it. */
  def answerTypes: Seq[DataType] = results ++ Seq(LongType, LongType, LongType)

  def rowsOrdinal: Int = results.length

  def startOrdinal: Int = results.length + 1

  def endOrdinal: Int = results.length + 2
}
