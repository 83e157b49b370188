package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PROJECT

/**
 * Replaces `ts#1 AS ts#1` by `ts#1`. The answers of subqueries restore the labels' columns under
 * their own ids. Where Spark asks for the columns alone, it prunes the answers, and such aliases
 * remain. Spark takes them for attributes above a cached table, and fails.
 */
private[spark] object OwnAliases extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(PROJECT)) {
      case p @ Project(list, _) if list.exists(isOwn) =>
        p.copy(projectList = list.map(attribute))
    }

  private def isOwn(e: NamedExpression): Boolean = e match {
    case Alias(a: Attribute, _) => a.exprId == e.exprId
    case _                      => false
  }

  private def attribute(e: NamedExpression): NamedExpression = e match {
    case Alias(a: Attribute, _) if isOwn(e) => a
    case other                              => other
  }
}
