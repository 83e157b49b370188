package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.Invertible

/**
 * An aggregation computed from the answers of two others over the same input, like the mean from
 * sum and count.
 *
 * Cost: one combine of each. Space: one partial of each.
 *
 * Paper: ''SlickDeque'', section 3.1.
 */
abstract class Algebraic[In, A, OutA, B, OutB, Out](
    first: Aggregation[In, A, OutA],
    second: Aggregation[In, B, OutB]
) extends Aggregation[In, (A, B), Out]
    with MakesColumn[In, Out] {

  def finish(a: OutA, b: OutB): Out

  override def identity: (A, B) = (first.identity, second.identity)

  override def lift(in: In): (A, B) = (first.lift(in), second.lift(in))

  override def combine(older: (A, B), younger: (A, B)): (A, B) =
    (first.combine(older._1, younger._1), second.combine(older._2, younger._2))

  override def lower(agg: (A, B)): Out = finish(first.lower(agg._1), second.lower(agg._2))

  override def newColumn(): Column[In, Out] =
    new PairColumn(Column.of(first), Column.of(second), finish)
}

/** An [[Algebraic]] aggregation of two invertible ones. It is invertible, too. */
abstract class InvertibleAlgebraic[In, A, OutA, B, OutB, Out](
    first: InvertibleAggregation[In, A, OutA],
    second: InvertibleAggregation[In, B, OutB]
) extends Algebraic[In, A, OutA, B, OutB, Out](first, second)
    with InvertibleAggregation[In, (A, B), Out] {

  override def subtract(whole: (A, B), oldest: (A, B)): (A, B) =
    (first.subtract(whole._1, oldest._1), second.subtract(whole._2, oldest._2))

  override def newColumn(): Column[In, Out] with Invertible =
    new InvertiblePairColumn(first.newColumn(), second.newColumn(), finish)
}
