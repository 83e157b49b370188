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
 * in the slots. Frames, hops and labels all ask here, in batch and on streams.
 */
private[spark] object WindowMonoid {

  /**
   * The monoid of an aggregate, or the reason why Sash cannot use it. A call with DISTINCT is
   * refused, since equal inputs would count twice. If Sash can tell the inputs apart, a
   * [[MovingAggregate]] has replaced the call before.
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
