package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/**
 * The product of two aggregations: both answers from one window. Products of products put several
 * aggregates in one window, over one dimension of the data or, with [[On]], over many.
 *
 * Types: In, (A, B), (OutA, OutB). Identity: both identities. Cost: one combine of each. The
 * product of invertibles is invertible, the product of commutatives commutative. The product of
 * selectives is not selective, since each may pick another operand. `Both` has an overload for
 * each of these, which Java cannot tell apart: there, use `Both.of` or `Both.ofInvertible`.
 * {{{
 * Both(Max[Double], Min[Double]).aggregate(3.0, 1.0, 4.0) == ((4.0, 1.0))
 * }}}
 * Paper: ''Constant-Time Sliding Window Framework'', section 5.8 (multi-dimensional aggregation).
 */
class Both[In, A, OutA, B, OutB] private (
    first: Aggregation[In, A, OutA],
    second: Aggregation[In, B, OutB]
) extends Algebraic[In, A, OutA, B, OutB, (OutA, OutB)](first, second) {
  override def finish(a: OutA, b: OutB): (OutA, OutB) = (a, b)
}

object Both {
  private class InvertibleBoth[In, A, OutA, B, OutB](
      first: InvertibleAggregation[In, A, OutA],
      second: InvertibleAggregation[In, B, OutB]
  ) extends InvertibleAlgebraic[In, A, OutA, B, OutB, (OutA, OutB)](first, second) {
    override def finish(a: OutA, b: OutB): (OutA, OutB) = (a, b)
  }

  def apply[In, A, OutA, B, OutB](
      first: Aggregation[In, A, OutA],
      second: Aggregation[In, B, OutB]
  ): Aggregation[In, (A, B), (OutA, OutB)] = new Both(first, second)

  def apply[In, A, OutA, B, OutB](
      first: InvertibleAggregation[In, A, OutA],
      second: InvertibleAggregation[In, B, OutB]
  ): InvertibleAggregation[In, (A, B), (OutA, OutB)] = new InvertibleBoth(first, second)

  // Commutative stands first, and DummyImplicit last, to tell the overloads apart after erasure
  def apply[In, A, OutA, B, OutB](
      first: Commutative with Aggregation[In, A, OutA],
      second: Commutative with Aggregation[In, B, OutB]
  ): Aggregation[In, (A, B), (OutA, OutB)] with Commutative =
    new Both(first, second) with Commutative

  def apply[In, A, OutA, B, OutB](
      first: Commutative with InvertibleAggregation[In, A, OutA],
      second: Commutative with InvertibleAggregation[In, B, OutB]
  )(implicit
      erasure: DummyImplicit
  ): InvertibleAggregation[In, (A, B), (OutA, OutB)] with Commutative =
    new InvertibleBoth(first, second) with Commutative

  /** For Java: the product of any two aggregations. */
  def of[In, A, OutA, B, OutB](
      first: Aggregation[In, A, OutA],
      second: Aggregation[In, B, OutB]
  ): Aggregation[In, (A, B), (OutA, OutB)] = new Both(first, second)

  /** For Java: the product of two invertible aggregations. */
  def ofInvertible[In, A, OutA, B, OutB](
      first: InvertibleAggregation[In, A, OutA],
      second: InvertibleAggregation[In, B, OutB]
  ): InvertibleAggregation[In, (A, B), (OutA, OutB)] = new InvertibleBoth(first, second)
}
