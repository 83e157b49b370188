package io.sash.spark.hops

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{LongType, StructType}

import io.sash.spark.SparkVersions
import io.sash.spark.monoids.Algorithm
import io.sash.spark.slots.SlotProgram

/**
 * The windows of hops, from the partials of panes, of which there is one at most for each keys and
 * pane: a row for each keys and window with a pane.
 *
 * @param partials structs of cells, one for each function
 * @param functions the aggregates, over nothing of the child; see `HopWindows.unbound`
 * @param window the column of the windows that it makes
 * @param answers the columns of the answers, one for each function
 */
private[spark] final case class HopWindows(
    keys: Seq[Attribute],
    pane: Attribute,
    partials: Seq[Attribute],
    hops: HopPanes,
    functions: Seq[DeclarativeAggregate],
    window: Attribute,
    answers: Seq[Attribute],
    child: LogicalPlan
) extends UnaryNode {
  override def output: Seq[Attribute] = keys ++ (window +: answers)

  override def producedAttributes: AttributeSet = AttributeSet(window +: answers)

  override protected def withNewChildInternal(newChild: LogicalPlan): HopWindows =
    copy(child = newChild)
}

private[spark] object HopWindows {

  /** A function with its columns as places: just how partials combine is asked of it. */
  def unbound(function: DeclarativeAggregate, input: Seq[Attribute]): DeclarativeAggregate =
    function
      .transform { case a: Attribute =>
        BoundReference(input.indexWhere(_.exprId == a.exprId), a.dataType, a.nullable)
      }
      .asInstanceOf[DeclarativeAggregate]
}

/** Plans [[HopWindowsExec]]. */
private[spark] object HopStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case h: HopWindows =>
      Seq(
        HopWindowsExec(
          h.keys,
          h.pane,
          h.partials,
          h.hops,
          h.functions,
          h.window,
          h.answers,
          planLater(h.child)
        )
      )
    case _ => Nil
  }
}

/**
 * Slides over the panes of each keys by Two-Stacks Lite: amortised 3 combines a pane and a query a
 * window. Memory: the partials of one window.
 */
private[spark] final case class HopWindowsExec(
    keys: Seq[Attribute],
    pane: Attribute,
    partials: Seq[Attribute],
    hops: HopPanes,
    functions: Seq[DeclarativeAggregate],
    window: Attribute,
    answers: Seq[Attribute],
    child: SparkPlan
) extends UnaryExecNode {
  override def output: Seq[Attribute] = keys ++ (window +: answers)

  override def producedAttributes: AttributeSet = AttributeSet(window +: answers)

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(if (keys.isEmpty) AllTuples else SparkVersions.clusteredDistribution(keys))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq((keys :+ pane).map(SortOrder(_, Ascending)))

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "panes" -> SQLMetrics.createMetric(sparkContext, "panes")
  )

  /** As EXPLAIN shows it. */
  def text: String = {
    val aggregates = functions.map(_.prettyName).mkString(", ")
    s"$aggregates by windows of ${hops.panes} panes, Two-Stacks Lite"
  }

  @transient private lazy val program: SlotProgram = {
    val monoids = functions.map(f => PanePartial.monoid(f.toAggregateExpression()))
    val firsts = monoids.scanLeft(0)(_ + _.left.length)
    val parts = monoids.indices.map { i =>
      val cells = partials(i).dataType.asInstanceOf[StructType].fields.indices
      Algorithm.TwoStacksLiteAlgorithm
        .part(monoids(i), firsts(i), i)
        .copy(lift = cells.map(c => GetStructField(partials(i), c)))
    }
    SlotProgram(child.output, monoids.flatMap(_.left), monoids.flatMap(_.right), parts)
  }

  /** A row of the answer, over the keys, the answers, and the window's start and end. */
  private def outputExpressions: Seq[Expression] = {
    val values = (keys ++ answers).zipWithIndex.map { case (a, i) =>
      BoundReference(i, a.dataType, a.nullable)
    }
    val bounds = Seq("start", "end").zipWithIndex.flatMap { case (name, i) =>
      val at = BoundReference(values.length + i, LongType, nullable = false)
      val time = window.dataType.asInstanceOf[StructType](name).dataType
      Seq(Literal(name), PreciseTimestampConversion(at, LongType, time))
    }
    values.take(keys.length) ++ (CreateNamedStruct(bounds) +: values.drop(keys.length))
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val (program, input, output) = (this.program, child.output, outputExpressions)
    val (keys, pane, hops) =
      (this.keys, input.indexWhere(_.exprId == this.pane.exprId), this.hops)
    val types = answers.map(_.dataType) ++ Seq(LongType, LongType)
    val (rows, panes) = (longMetric("numOutputRows"), longMetric("panes"))
    child.execute().mapPartitions { partition =>
      val project = UnsafeProjection.create(output)
      val keyOf = UnsafeProjection.create(keys, input)
      new HopIterator(partition, program, keyOf, pane, hops, types, project, rows, panes)
    }
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName [$text], [${keys.map(_.sql).mkString(", ")}], $hops"

  override protected def withNewChildInternal(newChild: SparkPlan): HopWindowsExec =
    copy(child = newChild)
}
