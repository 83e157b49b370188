package io.sash.spark.ordering

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Orders rows for a window (`KeyOrder`): each key's rows together and sorted, and the keys in
 * any order. It costs less than a sort by keys and order, since it groups rows by hashing. It
 * sorts only overtaken rows, which come after a younger row of their key (`OrderTask`).
 */
private[sash] final case class OrderingExec(
    partitionSpec: Seq[Expression],
    orderSpec: Seq[SortOrder],
    child: SparkPlan
) extends UnaryExecNode {

  def keyOrder: KeyOrder = KeyOrder(partitionSpec, orderSpec)

  override def output: Seq[Attribute] = child.output

  override def requiredChildDistribution: Seq[Distribution] = Seq(keyOrder.distribution)

  override def outputPartitioning: Partitioning = child.outputPartitioning

  /** Without keys, the output is in order as a whole. */
  override def outputOrdering: Seq[SortOrder] = if (partitionSpec.isEmpty) orderSpec else Nil

  private lazy val ownMetrics = OrderMetrics.create(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = ownMetrics.byName

  override protected def withNewChildInternal(newChild: SparkPlan): OrderingExec =
    copy(child = newChild)

  override protected def doExecute(): RDD[InternalRow] = {
    val program =
      OrderProgram(partitionSpec, RowOrder(orderSpec, child.output, conf.enableRadixSort))
    val metrics = ownMetrics
    child.execute().mapPartitions { rows =>
      // an empty partition takes no memory
      if (rows.hasNext) new OrderTask(program, metrics).ordered(rows) else rows
    }
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName hash + adaptive [${partitionSpec.map(_.sql).mkString(", ")}], " +
      s"[${orderSpec.map(_.sql).mkString(", ")}]"
}
