package io.sash.spark.hops

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.AGGREGATE

import io.sash.spark.SashConf

/**
 * Aggregates by pane, and slides over the panes, in the place of an aggregation of each row's copies.
 *
 * It runs between analysis and the search for cached data, which has to find the same plan each time.
 */
private[spark] object BatchHops extends Rule[LogicalPlan] {

  /** On an Aggregate over hops: why Spark's own operators answer it. */
  val Refused: TreeNodeTag[String] = TreeNodeTag("sash.hops")

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.hopsEnabled(conf) || !plan.containsPattern(AGGREGATE)) plan
    else
      plan.transformUpWithSubqueries {
        case aggregate: Aggregate if !aggregate.isStreaming =>
          HopAggregate.of(aggregate)(reason) match {
            case Some(Right(hop)) => planned(hop)
            case Some(Left(why))  => refused(aggregate, why)
            case None if hasHops(aggregate.child) =>
              refused(aggregate, "the windows are not right below the aggregation")
            case None => aggregate
          }
      }

  private def refused(aggregate: Aggregate, why: String): Aggregate = {
    aggregate.setTagValue(Refused, why)
    aggregate
  }

  /** Behind what the analyzer makes of GROUPING SETS, and columns. */
  private def hasHops(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: Expand =>
      plan.children.exists(c => CopiedRows.of(c).nonEmpty || hasHops(c))
    case _ => false
  }

  private def reason(hop: HopAggregate): Option[String] =
    if (readsOuter(hop)) Some("the rows depend on those of a query around it")
    else
      hop.calls.map(_.aggregateFunction).collectFirst {
        case f if !f.isInstanceOf[DeclarativeAggregate] =>
          s"${f.prettyName} keeps objects, which Spark merges where they are"
      }

  /** Spark takes such conditions out of nodes that it knows. */
  private def readsOuter(hop: HopAggregate): Boolean =
    (hop.calls ++ hop.keyValues).exists(SubExprUtils.containsOuter) ||
      hop.child.exists(_.expressions.exists(SubExprUtils.containsOuter))

  private def planned(hop: HopAggregate): LogicalPlan = {
    val keys = hop.keys.zip(hop.keyValues).map { case (k, value) => Alias(value, k.name)() }
    val pane = Alias(PaneOf(hop.time, hop.hops), "pane")()
    val calls = if (hop.calls.isEmpty) Seq(rowCount) else hop.calls
    val functions = calls.map(_.aggregateFunction.asInstanceOf[DeclarativeAggregate])
    val partials = functions.zip(calls).zipWithIndex.map { case ((function, call), i) =>
      val partial = PanePartial(PanePartial.settled(function), call.filter)
      Alias(partial.toAggregateExpression(), s"partial$i")()
    }
    val panes = Aggregate(
      keys.map(_.toAttribute) :+ pane.toAttribute,
      (keys.map(_.toAttribute) :+ pane.toAttribute) ++ partials,
      Project(hop.child.output ++ keys :+ pane, hop.rows)
    )
    val windows = HopWindows(
      keys.map(_.toAttribute),
      WindowOfPanes(pane.toAttribute, hop.hops, hop.window.dataType),
      partials.zip(functions).map { case (partial, function) =>
        AnswerOfPanes(partial.toAttribute, AnswerOfPanes.ofNoRow(function))
      },
      hop.window +: calls.map(_.resultAttribute),
      wanted = None,
      panes
    )
    Project(renamed(hop.results, hop.keys.map(_.toAttribute), keys.map(_.toAttribute)), windows)
  }

  /** For windows of which nothing is asked: slots have to hold something. */
  private def rowCount: AggregateExpression = Count(Seq(Literal(1))).toAggregateExpression()

  /** The results over keys that have other ids. */
  private def renamed(
      results: Seq[NamedExpression],
      from: Seq[Attribute],
      to: Seq[Attribute]
  ): Seq[NamedExpression] = {
    val keys = AttributeMap(from.zip(to))
    results.map {
      case a: Attribute if keys.contains(a) =>
        Alias(keys(a), a.name)(a.exprId, a.qualifier, Some(a.metadata))
      case other =>
        other
          .transform { case a: Attribute => keys.getOrElse(a, a) }
          .asInstanceOf[NamedExpression]
    }
  }
}
