package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.{Expression, RuntimeReplaceableAggregate}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction

/** Replaces a RuntimeReplaceableAggregate in a place that the optimizer does not reach. */
private[spark] object Replacement {
  def of(aggregate: Expression): AggregateFunction = aggregate match {
    case r: RuntimeReplaceableAggregate => r.replacement.asInstanceOf[AggregateFunction]
    case f                              => f.asInstanceOf[AggregateFunction]
  }
}
