package io.sash.spark.hops

import scala.util.{Left, Right}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{AGGREGATE, CTE}
import org.apache.spark.sql.classic

import io.sash.spark.base.{Filtered, SashConf, SparkVersions}
import io.sash.spark.multisets.MovingAggregate

/**
 * Replaces an Aggregate over hop windows, in which each row is copied into all its windows. The
 * new plan aggregates rows by pane, and slides hop windows over the panes. If Sash does not
 * answer some windows, they become Spark's plan with copies.
 *
 * The rule runs after analysis, and before Spark looks for cached data, so that each query finds
 * the data cached by an equal one.
 */
private[spark] final class BatchHops(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    WindowsOf.copied(
      if (!SashConf.hopsEnabled(conf) || !plan.containsPattern(AGGREGATE)) plan
      else
        inlined(plan).transformUpWithSubqueries {
          case aggregate: Aggregate if !aggregate.isStreaming =>
            HopAggregate.of(aggregate)(reason(aggregate, _)) match {
              case Some(Right(hop)) => planned(hop)
              case Some(Left(why))  => BatchHops.refused(aggregate, why)
              case None             => aggregate
            }
        },
      session
    )

  /**
   * Inlines common table expressions with hop windows, as Spark's optimizer would, so that the
   * rule finds the windows below an Aggregate.
   */
  private def inlined(plan: LogicalPlan): LogicalPlan = {
    val tables =
      if (!plan.containsPattern(CTE)) Nil
      else plan.collectWithSubqueries { case table: CTERelationDef => table.child }
    if (tables.exists(HopRows.of(_).nonEmpty)) SparkVersions.inlineCommonTables(plan) else plan
  }

  private def reason(aggregate: Aggregate, hop: HopAggregate): Option[String] =
    if (readsOuter(hop)) Some("the rows depend on rows of a query around it")
    else if (HopRows.operators(aggregate.child).exists(isCached))
      Some("the rows are cached with their windows")
    else
      hop.calls.map(_.aggregateFunction).collectFirst {
        case f if !f.isInstanceOf[DeclarativeAggregate] && !f.isInstanceOf[MovingAggregate] =>
          s"${f.prettyName} keeps objects, which Spark merges where they are"
      }

  private def isCached(plan: LogicalPlan): Boolean = session match {
    case s: classic.SparkSession =>
      val cached = s.sharedState.cacheManager
      !cached.isEmpty && cached.lookupCachedData(s, WindowsOf.copied(plan, s)).isDefined
    case _ => false
  }

  /**
   * Whether an expression refers to an outer query. Spark resolves such references only in nodes
   * that it knows.
   */
  private def readsOuter(hop: HopAggregate): Boolean =
    (hop.calls ++ hop.keyValues ++ hop.conditions).exists(SubExprUtils.containsOuter) ||
      SubExprUtils.hasOuterReferences(hop.child)

  private def planned(hop: HopAggregate): LogicalPlan = {
    val keys = hop.keys.zip(hop.keyValues).map { case (k, value) => Alias(value, k.name)() }
    val pane = Alias(PaneOf(hop.time, hop.hops), "pane")()
    val calls = if (hop.calls.isEmpty) Seq(rowCount) else hop.calls
    val partials = calls.zipWithIndex.map { case (call, i) =>
      Alias(PanePartial.of(call), s"partial$i")()
    }
    val panes = Aggregate(
      keys.map(_.toAttribute) :+ pane.toAttribute,
      (keys.map(_.toAttribute) :+ pane.toAttribute) ++ partials,
      Project(hop.child.output ++ keys :+ pane, hop.rows)
    )
    val windows = HopWindows(
      keys.map(_.toAttribute),
      WindowOfPanes(pane.toAttribute, hop.hops, hop.window.dataType),
      partials.zip(calls).map { case (partial, call) =>
        AnswerOfPanes(partial.toAttribute, AnswerOfPanes.ofNoRow(call.aggregateFunction))
      },
      hop.window +: calls.map(_.resultAttribute),
      condition = None,
      panes
    )
    val named = AttributeMap(hop.keys.map(_.toAttribute).zip(keys.map(_.toAttribute)))
    val met = hop.conditions.map(_.transform { case a: Attribute => named.getOrElse(a, a) })
    Project(
      renamed(hop.results, named),
      Filtered(met, windows)
    )
  }

  /** The aggregate of a query without any, since a slot has to hold something. */
  private def rowCount: AggregateExpression = Count(Seq(Literal(1))).toAggregateExpression()

  /** Rewrites the results to the keys of the new plan, which have other ids. */
  private def renamed(
      results: Seq[NamedExpression],
      keys: AttributeMap[Attribute]
  ): Seq[NamedExpression] =
    results.map {
      case a: Attribute if keys.contains(a) =>
        Alias(keys(a), a.name)(a.exprId, a.qualifier, Some(a.metadata))
      case other =>
        other
          .transform { case a: Attribute => keys.getOrElse(a, a) }
          .asInstanceOf[NamedExpression]
    }
}

private[spark] object BatchHops {

  /** Tags an Aggregate over hop windows that Spark answers with the reason. */
  val Refused: TreeNodeTag[String] = TreeNodeTag("sash.hops")

  def refused(aggregate: Aggregate, why: String): Aggregate = {
    aggregate.setTagValue(Refused, why)
    aggregate
  }
}
