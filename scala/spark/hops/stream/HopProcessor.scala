package io.sash.spark.hops.stream

import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.base.Metrics
import io.sash.spark.streams.checkpoint.{BatchState, EarlierStates, StateLayout}
import io.sash.spark.streams.program.WarmStart
import io.sash.spark.streams.state.StreamState
import io.sash.spark.streams.task.{BucketProcessor, BucketTask}

/**
 * Answers the hop windows of a bucket of keys. Rows come in any order and are aggregated into the
 * partials of their panes. The mode says when a window is answered.
 *
 * @param late the watermark of the previous batch, in microseconds: a window that ended by then
 *   takes no rows any more. Spark passes it to its operators and not to a processor; see
 *   `StatefulOperators`.
 */
private[spark] final class HopProcessor(
    val program: HopProgram,
    late: Option[Long] = None,
    override val metrics: Option[Metrics] = None,
    override protected val earlier: EarlierStates = EarlierStates.Unknown
) extends BucketProcessor {
  override def text: String = program.text

  override def layout: Option[StateLayout] = None

  override def input: Seq[Attribute] = program.input

  override def placing: AttributeSet = AttributeSet.empty

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

  override def startingWith(history: WarmStart): HopProcessor =
    new HopProcessor(program.copy(start = Some(history)), late, metrics, earlier)

  override def in(late: Option[Long], metrics: Metrics, state: BatchState): HopProcessor =
    new HopProcessor(
      program.copy(start = start.map(_.behind(state.answered))),
      late,
      Some(metrics),
      state.earlier
    )

  override def explained: String =
    s"hop windows on a stream: ${program.hops.panes} panes each, by " +
      s"${program.algorithm.title} over a forest; a partial aggregate for each key and " +
      "pane in the state store"

  override protected def newTask(state: StreamState): BucketTask = {
    val known = late.getOrElse(
      throw new IllegalStateException("the watermark of late rows has not been told")
    )
    // windows that end in the history are over before the first row of the stream
    new HopTask(program, state, start.flatMap(_.silent).fold(known)(math.max(known, _)))
  }

  override def toString: String = s"Hops of ${text.linesIterator.mkString("; ")}"
}
