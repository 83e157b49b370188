package io.sash.spark.streams.read

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Statistics}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, SparkStrategy}

import io.sash.spark.streams.ask.ReadState

/**
 * The windows of a query as a checkpoint holds them: for OVER in a row for each key, for hop
 * windows in a row for each window.
 */
private[read] final case class StateRows(
    output: Seq[Attribute],
    windows: AskedWindows,
    of: StateRequest
) extends LeafNode
    with MultiInstanceRelation {
  override def newInstance(): StateRows = copy(output = output.map(_.newInstance()))

  override def computeStats(): Statistics = Statistics(sizeInBytes = conf.defaultSizeInBytes)

  override protected def stringArgs: Iterator[Any] = Iterator(output, windows.source)
}

/**
 * The arguments of `read_state`. They are no expressions of the plan, in which the analyzer would
 * look for more calls.
 */
private[read] final class StateRequest(call: ReadState) {
  val checkpoint: String = call.checkpoint
  val keys: Option[Expression] = call.keys
  val at: Option[Long] = call.at
}

/** The plan reads the last batch that has been committed when the plan is made. */
private[spark] final case class PlanStateRows(session: SparkSession) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case StateRows(output, windows, of) =>
      val held = new HeldState(of.checkpoint, windows, session)
      Seq(StateRowsExec(output, windows, of, held))
    case _ => Nil
  }
}

/** @param held the state, which only the driver reads. `isEmpty` sends the plan to a task */
private[read] final case class StateRowsExec(
    output: Seq[Attribute],
    @transient windows: AskedWindows,
    @transient of: StateRequest,
    @transient held: HeldState
) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] = held.answers(of.keys, of.at)

  override protected def stringArgs: Iterator[Any] = Iterator(output, windows.source)
}
