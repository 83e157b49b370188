package io.sash.spark.split

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  OrderedDistribution,
  Partitioning,
  RangePartitioning
}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric

import io.sash.spark.base.SparkVersions
import io.sash.spark.ordering.{KeyOrder, RowOrder}
import io.sash.spark.windows.{ExplainLines, WindowCall}

/**
 * A window that many tasks answer, even for one key. Its rows are exchanged by ranges of keys and
 * order. Each task answers the rows of some ranges, its ''stretches''. Output rows are in this
 * order, and rows that tie in it are in one stretch. A key may lie in several stretches, so the
 * output is not clustered by key.
 *
 * @param windowExpression named expressions over window calls that [[SplitCalls]] accepts
 * @param tieBreaker the child's last column, which numbers the rows, if an answer depends on the
 *   order of rows that tie. It is not in the output
 * @param conditions a filter above the window on its input; empty if every row gets results
 * @param tasks the number of tasks, each with some consecutive stretches
 * @param forced the value of `spark.sash.window.algorithm`
 */
private[spark] final case class SplitWindowExec(
    windowExpression: Seq[NamedExpression],
    partitionSpec: Seq[Expression],
    orderSpec: Seq[SortOrder],
    tieBreaker: Option[Attribute],
    conditions: Seq[Expression],
    forced: String,
    tasks: Int,
    child: SparkPlan
) extends UnaryExecNode {

  @transient private[spark] lazy val calls: Seq[WindowCall] =
    WindowCall.each(windowExpression)(WindowCall.ofAnyFrame(_, forced))

  /** The keys, and the order of each key's rows. */
  private[spark] def by: KeyOrder = KeyOrder(partitionSpec, orderSpec)

  /** The columns of the rows, without the tie-breaker. */
  private def columns: Seq[Attribute] =
    child.output.filterNot(a => tieBreaker.exists(_.exprId == a.exprId))

  override def output: Seq[Attribute] = columns ++ windowExpression.map(_.toAttribute)

  override def requiredChildDistribution: Seq[Distribution] = Seq(OrderedDistribution(by.sorted))

  override def outputOrdering: Seq[SortOrder] = by.sorted

  override def outputPartitioning: Partitioning = RangePartitioning(by.sorted, tasks)

  private lazy val ownMetrics = SplitMetrics.create(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = ownMetrics.byName

  override protected def withNewChildInternal(newChild: SparkPlan): SplitWindowExec =
    copy(child = newChild)

  override protected def doExecute(): RDD[InternalRow] = {
    val zone = conf.sessionLocalTimeZone
    val stages = SplitStage.of(calls, by, child.output, zone).toIndexedSeq
    val answers =
      WindowCall.replaced(windowExpression, stages.flatMap(_.calls), stages.flatMap(_.results))
    val order = RowOrder(
      by.sorted ++ tieBreaker.map(SortOrder(_, Ascending)),
      child.output,
      conf.enableRadixSort
    )
    val rows = child.execute()
    val comparesReadings = !sparkContext.isLocal && !SparkVersions.comparesRecomputedRows
    new StretchesRDD(
      rows,
      StretchTasks(rows.partitions.length, tasks),
      SplitProgram(
        stages,
        by.sortedKeys,
        order,
        inOrder = !stages.forall(_.commutes),
        comparesReadings
      ),
      child.output,
      columns ++ answers,
      conditions.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral),
      ownMetrics
    )
  }

  /** The windows for EXPLAIN. */
  private[spark] def texts: Seq[String] = ExplainLines.each(windowExpression, calls) { i =>
    s"${calls(i).how}, ${SplitCalls.way(calls(i))}"
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName [${texts.mkString("; ")}], ${by.sorted.map(_.sql).mkString("[", ", ", "]")}, " +
      s"$tasks tasks" +
      conditions.reduceOption(And(_, _)).fold("")(c => s", for rows where ${c.sql}")
}
