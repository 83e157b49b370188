package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.Invertible

/**
 * The product of two aggregations: both answers from one window. Products of products put several
 * aggregates in one window, over one dimension of the data or, by `on`, over many. [[Fields]]
 * gives the answers names.
 *
 * Types: In, (A, B), (OutA, OutB). Identity: both identities. Cost: one combine of each. The
 * product of invertibles is invertible, the product of commutatives commutative. The product of
 * selectives is not selective, since each may pick another operand.
 * {{{
 * Both(Max[Double], Min[Double]).aggregate(3.0, 1.0, 4.0) == ((4.0, 1.0))
 * }}}
 * Paper: ''Constant-Time Sliding Window Framework'', section 5.8 (multi-dimensional aggregation).
 */
object Both {
  def apply[In, A, OutA, B, OutB](
      first: Aggregation[In, A, OutA],
      second: Aggregation[In, B, OutB]
  ): Aggregation[In, (A, B), (OutA, OutB)] =
    Fields(first, second)((_, _))

  def apply[In, A, OutA, B, OutB](
      first: InvertibleAggregation[In, A, OutA],
      second: InvertibleAggregation[In, B, OutB]
  ): InvertibleAggregation[In, (A, B), (OutA, OutB)] =
    Fields(first, second)((_, _))
}

/**
 * The product of two or three aggregations, whose answers become the fields of one: of a case
 * class, or in Java of a record. A field may be such a product again, so two make many.
 *
 * Types, identity, laws and cost are as in [[Both]].
 * {{{
 * Fields(Max[Int], Min[Int])((max, min) => max - min).aggregate(3, 1, 4) == 3
 * }}}
 * Paper: ''SlickDeque'', section 3.1 (algebraic aggregations).
 */
object Fields {
  def apply[In, A, OutA, B, OutB, Out](
      first: Aggregation[In, A, OutA],
      second: Aggregation[In, B, OutB]
  )(fields: (OutA, OutB) => Out): Aggregation[In, (A, B), Out] =
    new Algebraic(first, second)(fields)

  def apply[In, A, OutA, B, OutB, Out](
      first: InvertibleAggregation[In, A, OutA],
      second: InvertibleAggregation[In, B, OutB]
  )(fields: (OutA, OutB) => Out): InvertibleAggregation[In, (A, B), Out] =
    new InvertibleAlgebraic(first, second)(fields)

  def apply[In, A, OutA, B, OutB, C, OutC, Out](
      first: Aggregation[In, A, OutA],
      second: Aggregation[In, B, OutB],
      third: Aggregation[In, C, OutC]
  )(fields: (OutA, OutB, OutC) => Out): Aggregation[In, ((A, B), C), Out] =
    Both(Both(first, second), third).map { case ((a, b), c) => fields(a, b, c) }
}

/**
 * An aggregation computed from the answers of two others over the same input, like the mean from
 * sum and count. [[Fields]] makes one.
 *
 * Cost: one combine of each. Space: one partial of each.
 *
 * Paper: ''SlickDeque'', section 3.1.
 */
private[algebra] class Algebraic[In, A, OutA, B, OutB, Out](
    first: Aggregation[In, A, OutA],
    second: Aggregation[In, B, OutB]
)(finish: (OutA, OutB) => Out)
    extends Aggregation[In, (A, B), Out]
    with MakesColumn[In, Out] {
  private[algebra] def commutes: Boolean = Commutative(first) && Commutative(second)

  override def identity: (A, B) = (first.identity, second.identity)

  override def lift(in: In): (A, B) = (first.lift(in), second.lift(in))

  override def combine(older: (A, B), younger: (A, B)): (A, B) =
    (first.combine(older._1, younger._1), second.combine(older._2, younger._2))

  override def lower(agg: (A, B)): Out = finish(first.lower(agg._1), second.lower(agg._2))

  override def newColumn(): Column[In, Out] =
    new PairColumn(Column.of(first), Column.of(second), finish)
}

private[algebra] class InvertibleAlgebraic[In, A, OutA, B, OutB, Out](
    first: InvertibleAggregation[In, A, OutA],
    second: InvertibleAggregation[In, B, OutB]
)(finish: (OutA, OutB) => Out)
    extends Algebraic[In, A, OutA, B, OutB, Out](first, second)(finish)
    with InvertibleAggregation[In, (A, B), Out] {

  override def subtract(whole: (A, B), oldest: (A, B)): (A, B) =
    (first.subtract(whole._1, oldest._1), second.subtract(whole._2, oldest._2))

  override def newColumn(): Column[In, Out] with Invertible =
    new InvertiblePairColumn(first.newColumn(), second.newColumn(), finish)
}
