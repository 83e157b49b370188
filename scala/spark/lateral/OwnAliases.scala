package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PROJECT

/**
 * Replaces `ts#1 AS ts#1` by `ts#1`. The plan of a subquery's answers restores the labels'
 * columns under their own ids. If a query reads these columns alone, Spark prunes the answers,
 * and such aliases remain. Above a cached table, Spark expects attributes there, and fails.
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
