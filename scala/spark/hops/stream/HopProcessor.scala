package io.sash.spark.hops.stream

import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.streams.program.WarmStart
import io.sash.spark.streams.state.StreamState
import io.sash.spark.streams.task.{BucketProcessor, BucketTask, OperatorBatch}

/**
 * Answers the hop windows of a bucket of keys. Rows come in any order, and are aggregated into
 * the partials of their panes. The output mode decides when a window is answered. Once a window
 * has ended by the watermark of late rows, it takes no more rows.
 */
private[spark] final class HopProcessor(
    val program: HopProgram,
    override val batch: Option[OperatorBatch] = None
) extends BucketProcessor {
  override def text: String = program.text

  override def input: Seq[Attribute] = program.input

  override def fields: Seq[Expression] = {
    val keys = program.keys.map(input)
    (keys :+ CreateStruct(keys :+ input(program.pane))) ++ program.calls
  }

  override def rowsOver: Seq[Expression] = program.keys.map(input) :+ input(program.pane)

  override def start: Option[WarmStart] = program.start

  override def time: Int = program.pane

  override def reachesTo: Option[Literal] = start.flatMap(_.silent).map { until =>
    val hops = program.hops
    Literal(hops.firstPaneOf(hops.firstEndingAfter(math.max(0L, until))))
  }

  override protected def copied(
      start: Option[WarmStart],
      batch: Option[OperatorBatch]
  ): HopProcessor = new HopProcessor(program.copy(start = start), batch)

  override def explained: String =
    s"hop windows on a stream: ${program.hops.panes} panes each, by " +
      s"${program.algorithm.title} over a forest; a partial aggregate for each key and " +
      "pane in the state store"

  override protected def newTask(state: StreamState): BucketTask = {
    val known = batch
      .flatMap(_.late)
      .getOrElse(
        throw new IllegalStateException("the watermark of late rows has not been told")
      )
    // windows that end in the history are over before the first row of the stream
    val late = start.flatMap(_.silent).fold(known)(math.max(known, _))
    new HopTask(program, state, late, known)
  }

  override def toString: String = s"Hops of ${text.linesIterator.mkString("; ")}"
}
