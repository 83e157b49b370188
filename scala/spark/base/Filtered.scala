package io.sash.spark.base

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}

/** The rows of a plan that meet all of some conditions, or all rows without a condition. */
private[spark] object Filtered {
  def apply(conditions: Seq[Expression], plan: LogicalPlan): LogicalPlan =
    conditions.reduceOption(And).fold(plan)(Filter(_, plan))
}
