package io.sash.core.algebra

/**
 * An aggregation whose partials are values of its input, and so is its answer: the aggregate of a
 * window is the same aggregate of those of its parts.
 *
 * Paper: ''SlickDeque'', section 3.1.
 */
trait Distributive[T] extends Aggregation[T, T, T] {
  final override def lift(in: T): T = in
  final override def lower(agg: T): T = agg
}
