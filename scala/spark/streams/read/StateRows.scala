package io.sash.spark.streams.read

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Statistics}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, SparkStrategy}

import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.program.StreamProgram

/**
 * The windows of a program as a checkpoint holds them, in a row for each key.
 *
 * @param known the columns that follow from key and time, as in `KnownColumns`
 */
private[spark] final case class StateRows(
    output: Seq[Attribute],
    program: StreamProgram,
    known: Map[Int, Expression],
    of: StateRequest
) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = conf.defaultSizeInBytes)

  override protected def stringArgs: Iterator[Any] =
    Iterator(output, program.source.distinct.mkString(", "))
}

/**
 * The arguments of `read_state`. They are no expressions of the plan, in which the analyzer would
 * look for more calls.
 */
private[spark] final class StateRequest(call: ReadState) {
  val checkpoint: String = call.checkpoint
  val keys: Option[Expression] = call.keys
  val at: Option[Long] = call.at
}

private[spark] object PlanStateRows extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case StateRows(output, program, known, of) =>
      Seq(StateRowsExec(output, program, known, of))
    case _ => Nil
  }
}

/** Reads the last batch that was committed when the plan was made. */
private[spark] final case class StateRowsExec(
    output: Seq[Attribute],
    program: StreamProgram,
    known: Map[Int, Expression],
    of: StateRequest
) extends LeafExecNode {
  private[this] val held = new HeldState(of.checkpoint, program, session)

  override protected def doExecute(): RDD[InternalRow] = held.answers(known, of.keys, of.at)

  override protected def stringArgs: Iterator[Any] =
    Iterator(output, program.source.distinct.mkString(", "))
}
