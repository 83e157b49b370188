package io.sash.spark.multisets

import scala.util.Right

import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  ImperativeAggregate
}

import io.sash.spark.monoids.{AggregateMonoid, Refusal}
import io.sash.spark.slots.RunningAnswer

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
      running(call)
        .map(answer => Right(RunningMonoid(answer, call.filter)))
        .getOrElse(AggregateMonoid.of(call))

  /** The answer that windows keep for an aggregate beside the slots, if Sash has one. */
  def running(call: AggregateExpression): Option[RunningAnswer] = call.aggregateFunction match {
    case f: ImperativeAggregate if !call.isDistinct => FindRunningAnswer.of(f)
    case _                                          => None
  }
}
