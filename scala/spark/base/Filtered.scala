package io.sash.spark.base

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}

/** The rows of a plan that meet conditions, of which there may be none. */
private[spark] object Filtered {
  def apply(conditions: Seq[Expression], plan: LogicalPlan): LogicalPlan =
    conditions.reduceOption(And).fold(plan)(Filter(_, plan))
}
