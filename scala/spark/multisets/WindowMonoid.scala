package io.sash.spark.multisets

import scala.util.Right

import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  ImperativeAggregate
}

import io.sash.spark.monoids.{AggregateMonoid, Refusal}

/**
 * Chooses how windows run an aggregate: with a running answer beside the slots, or with partials
 * in the slots. All that Sash answers asks here, over frames, hops and labels, in batch and on
 * streams.
 */
private[spark] object WindowMonoid {

  /**
   * The monoid of an aggregate, or the reason why Sash cannot use it. A [[MovingAggregate]] has
   * the place of a call with DISTINCT whose inputs Sash tells apart. Any other call with DISTINCT
   * would count equal inputs twice.
   */
  def of(call: AggregateExpression): Either[Refusal, AggregateMonoid] =
    if (call.isDistinct) Left(FindRunningAnswer.notDistinct(call.aggregateFunction))
    else
      (call.aggregateFunction match {
        case f: ImperativeAggregate => FindRunningAnswer.of(f)
        case _                      => None
      }).map(RunningMonoid(_, call.filter)).map(Right(_)).getOrElse(AggregateMonoid.of(call))
}
