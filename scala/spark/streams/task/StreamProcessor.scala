package io.sash.spark.streams.task

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.TimestampType

import io.sash.spark.streams.program.{AnswerMode, StreamProgram, WarmStart}
import io.sash.spark.streams.state.StreamState

/**
 * Answers the rows of a bucket of keys, over windows of rows. In append mode a row is pending in
 * the state until the watermark has passed it. Then all rows of its time have come, so that its
 * key's windows take in only final rows.
 */
private[spark] final class StreamProcessor(
    val program: StreamProgram,
    override val batch: Option[OperatorBatch] = None
) extends BucketProcessor {
  override def text: String = program.text

  override def input: Seq[Attribute] = program.input

  override def fields: Seq[Expression] = program.fields

  override def start: Option[WarmStart] = program.start

  override def time: Int = program.time

  override def reachesTo: Option[Literal] = for {
    history <- start
    reach <- HistoryTail.reachOf(program) if reach.rows == 0L
    first = math.min(reach.time, history.until + 1)
  } yield Literal(first, TimestampType)

  override protected def copied(
      start: Option[WarmStart],
      batch: Option[OperatorBatch]
  ): StreamProcessor = new StreamProcessor(program.copy(start = start), batch)

  override def explained: String = {
    val windows = program.answers.written.distinct.mkString(", ")
    val columns = program.input.length - 1
    val algorithms = program.trees.map(_.title).distinct.mkString(", ")
    s"slides on a stream: $windows by $algorithms; a pending row has $columns columns in the " +
      "state store"
  }

  override protected def newTask(state: StreamState): BucketTask = {
    val windows = new KeyWindows(program, state)
    program.mode match {
      case AnswerMode.Append => new StreamTask(program, state, windows)
      case AnswerMode.Update => new UpdateTask(program, state, windows)
    }
  }

  override def toString: String = s"SlidingWindow of ${text.linesIterator.mkString("; ")}"
}
