package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * The columns below a window that the analyzer has made, for expressions that the user wrote in
 * PARTITION BY, in ORDER BY or in an argument.
 */
private[streams] object AnalyzerColumns {

  /** The expressions of these columns, as the user wrote them. */
  def in(plan: LogicalPlan): Map[ExprId, Expression] =
    plan.collect { case Project(list, _) => madeIn(list) }.flatten.toMap

  /** The columns that these expressions may read. */
  def inputs(plan: LogicalPlan): Seq[Seq[Attribute]] =
    plan.collect { case Project(list, child) if madeIn(list).nonEmpty => child.output }

  private def madeIn(list: Seq[Expression]): Seq[(ExprId, Expression)] =
    list.collect { case a: Alias if isOfAnalyzer(a.name) => a.exprId -> a.child }

  private def isOfAnalyzer(name: String): Boolean = name.matches("_we?\\d+")
}
