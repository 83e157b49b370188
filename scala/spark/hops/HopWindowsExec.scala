package io.sash.spark.hops

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.LongType

import io.sash.spark.base.SparkVersions
import io.sash.spark.monoids.{AggregateMonoid, Algorithm, Place}
import io.sash.spark.multisets.MovingAggregate
import io.sash.spark.windows.StoreProgram

/**
 * Slides hop windows over the panes of each key. Cost by Two-Stacks Lite: amortised 3 combines
 * per pane, and a query per window. Running answers, which are kept outside the slots, have a
 * store of their own, moved by SlickDeque (Inv): a combine and a subtraction per pane. Memory:
 * the partials of one window. Other parameters: see [[HopWindows]].
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
    s"${answers.map(_.name).mkString(", ")} by windows of ${hops.panes} panes, " +
      stores.map(textOf).mkString(", ") + condition.fold("")(w => s", where ${w.sql}")

  private def textOf(store: StoreProgram): String = {
    val beside = store.slots.running.map(_.title).distinct
    store.algorithm.title + (if (beside.isEmpty) "" else s" of ${beside.mkString(" and ")}")
  }

  /** One store for partials in slots, and one for running answers. An empty store is left out. */
  @transient private lazy val stores: Seq[StoreProgram] = {
    val monoids = answers.map(a => PanePartial.over(a.partial, a.function)).zipWithIndex
    val (beside, inSlots) = monoids.partition(_._1.running.nonEmpty)
    Seq(inSlots, beside).filter(_.nonEmpty).map(of => store(of.map(_._1), of.map(_._2)))
  }

  private def store(monoids: Seq[AggregateMonoid], ordinals: Seq[Int]): StoreProgram = {
    val algorithm = Algorithm.choose(monoids, forced, Place.RingOfPanes)
    StoreProgram(algorithm, algorithm.program(child.output, monoids, ordinals.map(Seq(_))), 1)
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val (input, keys, hops, programs) = (child.output, this.keys, this.hops, stores)
    val answer = HopAnswer.row(keys, results.tail, window.dataType)
    val condition = this.condition.map(over(answer))
    val kept = answers.filter(_.function.isInstanceOf[MovingAggregate]).map(_.name)
    val at = input.indexWhere(_.exprId == window.pane.exprId)
    val types = answers.map(_.dataType) ++ Seq(LongType, LongType)
    val metrics = counted
    child.execute().mapPartitions { partition =>
      val output = UnsafeProjection.create(answer)
      val keyOf = UnsafeProjection.create(keys, input)
      val isWanted = condition.map(Predicate.create)
      new HopIterator(
        partition,
        programs,
        kept,
        keyOf,
        at,
        hops,
        types,
        isWanted,
        output,
        metrics
      )
    }
  }

  /** Rewrites a condition on the operator's output to the expressions that make the output. */
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
