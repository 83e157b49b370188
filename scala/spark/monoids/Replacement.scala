package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.{Expression, RuntimeReplaceableAggregate}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction

/** What an aggregate stands for, where the optimizer that would replace it does not look. */
private[spark] object Replacement {
  def of(aggregate: Expression): AggregateFunction = aggregate match {
    case r: RuntimeReplaceableAggregate => r.replacement.asInstanceOf[AggregateFunction]
    case f                              => f.asInstanceOf[AggregateFunction]
  }
}
