package io.sash.spark.hops

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{LongType, StructType}

import io.sash.spark.base.SparkVersions
import io.sash.spark.monoids.{AggregateMonoid, Algorithm, Place}
import io.sash.spark.windows.StoreProgram

/**
 * Slides over the panes of each combination of keys. Cost by Two-Stacks Lite: amortised 3
 * combines for each pane, and a query for each window. Memory: the partials of one window. The
 * other parameters are the same as in [[HopWindows]].
 *
 * @param forced the value of `spark.sash.window.algorithm`
 */
private[spark] final case class HopWindowsExec(
    keys: Seq[Attribute],
    window: WindowOfPanes,
    answers: Seq[AnswerOfPanes],
    results: Seq[Attribute],
    condition: Option[Expression],
    forced: String,
    child: SparkPlan
) extends UnaryExecNode
    with OverPanes[SparkPlan] {
  private def hops: HopPanes = window.hops

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(if (keys.isEmpty) AllTuples else SparkVersions.clusteredDistribution(keys))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq((keys :+ window.pane).map(SortOrder(_, Ascending)))

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] =
    (keys :+ results.head).map(SortOrder(_, Ascending))

  @transient private lazy val counted = HopMetrics.create(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = counted.byName

  /** The text for EXPLAIN. */
  def text: String =
    s"${functions.map(_.prettyName).mkString(", ")} by windows of ${hops.panes} panes, " +
      algorithm.title + condition.fold("")(w => s", where ${w.sql}")

  private def functions: Seq[DeclarativeAggregate] =
    answers.map(_.function)

  /**
   * The slots of partials that are aggregated already: a lift takes the cells out of the struct.
   */
  @transient private lazy val monoids: Seq[AggregateMonoid] =
    answers.map { case AnswerOfPanes(partial, function) =>
      val cells = partial.dataType.asInstanceOf[StructType].fields.indices
      PanePartial
        .monoid(function.toAggregateExpression())
        .copy(lift = cells.map(GetStructField(partial, _)))
    }

  @transient private lazy val algorithm = Algorithm.choose(monoids, forced, Place.RingOfPanes)

  override protected def doExecute(): RDD[InternalRow] = {
    val (input, keys, hops, algorithm) = (child.output, this.keys, this.hops, this.algorithm)
    val program = algorithm.program(input, monoids)
    val answer = HopAnswer.row(keys, results.tail, window.dataType)
    val condition = this.condition.map(over(answer))
    val at = input.indexWhere(_.exprId == window.pane.exprId)
    val types = answers.map(_.dataType) ++ Seq(LongType, LongType)
    val metrics = counted
    child.execute().mapPartitions { partition =>
      val output = UnsafeProjection.create(answer)
      val keyOf = UnsafeProjection.create(keys, input)
      val isWanted = condition.map(Predicate.create)
      val store = StoreProgram(algorithm, program, ranges = 1)
      new HopIterator(partition, store, keyOf, at, hops, types, isWanted, output, metrics)
    }
  }

  /**
   * A condition on the operator's output, rewritten over the expressions that make the output.
   */
  private def over(answer: Seq[Expression])(condition: Expression): Expression = {
    val values = AttributeMap(output.zip(answer))
    condition.transformUp {
      case a: Attribute                                    => values(a)
      case GetStructField(struct: CreateNamedStruct, i, _) => struct.valExprs(i)
    }
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName [$text], [${keys.map(_.sql).mkString(", ")}], ${hops.signature}"

  override protected def withNewChildInternal(newChild: SparkPlan): HopWindowsExec =
    copy(child = newChild)
}
