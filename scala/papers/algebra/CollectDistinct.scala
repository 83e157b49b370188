package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/**
 * The set of all elements.
 *
 * Types: T, Set[T], Set[T]. Identity: the empty set. Associative and commutative. It is not
 * invertible, since the window may hold an equal element after one has left. Cost: one union.
 * Elements are the same if == says so: a null is an element like any other, but a NaN differs
 * from every NaN. Any of several equal elements is kept, such as 1.0 or 1.00.
 * {{{
 * CollectDistinct[String].aggregate("a", "b", "a") == Set("a", "b")
 * }}}
 * Paper: Reactive Aggregator, section 1.
 */
final class CollectDistinct[T] private extends Aggregation[T, Set[T], Set[T]] with Commutative {
  override def identity: Set[T] = Set.empty
  override def lift(in: T): Set[T] = Set(in)
  override def combine(older: Set[T], younger: Set[T]): Set[T] = older | younger
  override def lower(agg: Set[T]): Set[T] = agg
}

object CollectDistinct {
  def apply[T]: CollectDistinct[T] = new CollectDistinct[T]
}
