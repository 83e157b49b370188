package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/**
 * An aggregation from three functions: `lift` turns a value into a partial, `combine` makes one
 * partial of two neighbours, and `lower` turns a partial into the answer. `combine` must be
 * associative, with `identity` as its neutral element, which an empty window has.
 *
 * Types: In, Agg, Out. It claims no other law, but with `inverse` it is invertible:
 * `inverse(whole, oldest)` has to be the rest, exactly. Cost: a call of each function where a
 * window lifts, combines and answers. A function that throws leaves the window as it was.
 * {{{
 * OfFunctions(0)((word: String) => word.length, Math.max, n => n).aggregate("a", "be") == 2
 * }}}
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 2.2.
 */
object OfFunctions {
  def apply[In, Agg, Out](identity: Agg)(
      lift: In => Agg,
      combine: (Agg, Agg) => Agg,
      lower: Agg => Out
  ): Aggregation[In, Agg, Out] = new OfFunctions(identity, lift, combine, lower)

  def invertible[In, Agg, Out](identity: Agg)(
      lift: In => Agg,
      combine: (Agg, Agg) => Agg,
      inverse: (Agg, Agg) => Agg,
      lower: Agg => Out
  ): InvertibleAggregation[In, Agg, Out] =
    new OfFunctions(identity, lift, combine, lower) with InvertibleAggregation[In, Agg, Out] {
      override def subtract(whole: Agg, oldest: Agg): Agg = inverse(whole, oldest)
    }
}

private class OfFunctions[In, Agg, Out](
    override val identity: Agg,
    lifting: In => Agg,
    combining: (Agg, Agg) => Agg,
    lowering: Agg => Out
) extends Aggregation[In, Agg, Out] {
  override def lift(in: In): Agg = lifting(in)
  override def combine(older: Agg, younger: Agg): Agg = combining(older, younger)
  override def lower(agg: Agg): Out = lowering(agg)
}
