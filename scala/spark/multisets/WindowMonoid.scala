package io.sash.spark.multisets

import scala.util.Right

import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  ImperativeAggregate
}

import io.sash.spark.monoids.{AggregateMonoid, Refusal}

/**
 * Chooses how windows run an aggregate: with a running answer beside the slots, or with partials
 * in the slots.
 */
private[spark] object WindowMonoid {

  /** The monoid of an aggregate, or the reason why Sash cannot use it. */
  def of(call: AggregateExpression): Either[Refusal, AggregateMonoid] = {
    val kept = call.aggregateFunction match {
      case f: ImperativeAggregate => FindRunningAnswer.of(f)
      case _                      => None
    }
    kept.map(RunningMonoid(_, call.filter)).map(Right(_)).getOrElse(AggregateMonoid.of(call))
  }
}
