package io.sash.papers.algebra

/**
 * The oldest element. An empty window answers None.
 *
 * Types: T, Option[T], Option[T]. Identity: None. Associative, selective; not commutative. A null
 * and a NaN are elements like any other.
 * {{{
 * First[String].aggregate("b", "c", "a") == Some("b")
 * }}}
 * Paper: Reactive Aggregator, section 1.
 */
object First {
  def apply[T]: SelectiveAggregation[T, Option[T], Option[T]] =
    new Selection[T, T]((_, _) => false, x => x)
}
