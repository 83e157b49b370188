package io.sash.spark.history

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNION

/** Makes a [[History]] of each table that a UNION ALL with a stream reads up to a time. */
private[spark] object HistoryUnion extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(UNION)) {
      case union: Union if union.resolved && union.isStreaming =>
        union.withNewChildren(union.children.map(history))
    }

  private def history(child: LogicalPlan): LogicalPlan =
    if (child.isStreaming) child
    else
      child
        .collect { case Filter(condition, _) => untilsIn(condition) }
        .flatten
        .minOption
        .fold(child)(History(child, _))

  private def untilsIn(condition: Expression): Seq[Long] =
    condition.collect { case h: HistoryUntil => h.until }.flatten
}
