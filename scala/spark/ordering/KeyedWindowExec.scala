package io.sash.spark.ordering

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.window.WindowExec

/**
 * Spark's own window, fed from [[OrderingExec]]: it needs each key's rows together and in order,
 * as it always did, but asks for no order among the keys.
 *
 * @param window the window as Spark planned it; what is below it is not looked at
 */
final case class KeyedWindowExec(window: WindowExec, child: SparkPlan) extends UnaryExecNode {
  private lazy val fed: SparkPlan = window.withNewChildren(Seq(child))

  override def nodeName: String = window.nodeName

  override def output: Seq[Attribute] = window.output

  override def requiredChildDistribution: Seq[Distribution] = window.requiredChildDistribution

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = fed.metrics

  override protected def doExecute(): RDD[InternalRow] = fed.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): KeyedWindowExec =
    copy(child = newChild)

  override protected def doCanonicalize(): SparkPlan =
    copy(window.canonicalized.asInstanceOf[WindowExec], child.canonicalized)

  override def simpleString(maxFields: Int): String = window.simpleString(maxFields)
}
