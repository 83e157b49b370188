package io.sash.spark.base

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule

/** A node of Sash that passes each row on. A condition above it means the same below it. */
private[spark] trait PassesRows extends UnaryNode

/**
 * Moves a condition below a node that passes rows on. So the condition reaches the watermark and
 * the source, and a table may skip files by it.
 */
private[spark] object FilterBelow extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case Filter(condition, node: PassesRows) if condition.deterministic =>
      node.withNewChildren(Seq(Filter(condition, node.child)))
  }
}
