package io.sash.spark.running

import scala.util.Right

import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  ImperativeAggregate
}

import io.sash.spark.monoids.{AggregateMonoid, Refusal}

/** What an aggregate is over windows: kept beside the slots where that is its way, else in them. */
private[spark] object WindowMonoid {

  /** The monoid of an aggregate, or why it has none that Sash can use. */
  def of(call: AggregateExpression): Either[Refusal, AggregateMonoid] = {
    val kept = call.aggregateFunction match {
      case f: ImperativeAggregate => RunningAnswers.of(f)
      case _                      => None
    }
    kept.map(RunningMonoid(_, call.filter)).map(Right(_)).getOrElse(AggregateMonoid.of(call))
  }
}
