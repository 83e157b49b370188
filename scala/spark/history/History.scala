package io.sash.spark.history

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._

/**
 * The rows of a table that come before a stream. Spark takes them for a part of the stream, and
 * only the first batch reads them.
 *
 * @param until the time of the last of them, in microseconds; the stream has only later rows
 */
private[spark] final case class History(child: LogicalPlan, until: Long) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override def isStreaming: Boolean = true

  override protected def withNewChildInternal(newChild: LogicalPlan): History =
    copy(child = newChild)
}

/** Moves a condition below a [[History]], where the table may skip files by it. */
private[spark] object FilterHistory extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case Filter(condition, history: History) if condition.deterministic =>
      history.copy(child = Filter(condition, history.child))
  }
}

private[spark] object PlanHistory extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case History(child, _) => Seq(HistoryExec(planLater(child)))
    case _                 => Nil
  }
}

/** Reads the rows of a [[History]]. */
private[spark] final case class HistoryExec(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  /** The same plan in a later batch. */
  def read: SparkPlan = HistoryIsReadExec(output, child.collectLeaves().length)

  override protected def withNewChildInternal(newChild: SparkPlan): HistoryExec =
    copy(child = newChild)
}

/**
 * No rows, since an earlier batch has read the history.
 *
 * @param leaves the number of tables that the history is read from. Spark counts the rows of a
 *   batch only if its plans have equally many leaves
 */
private[spark] final case class HistoryIsReadExec(output: Seq[Attribute], leaves: Int)
    extends SparkPlan {
  override def children: Seq[SparkPlan] = Seq.fill(leaves - 1)(HistoryIsReadExec(output, 1))

  override protected def doExecute(): RDD[InternalRow] =
    session.sparkContext.emptyRDD[InternalRow]

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[SparkPlan]
  ): HistoryIsReadExec = this
}
