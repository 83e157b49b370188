package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/**
 * An aggregation whose partials and answer are values of its input type. The aggregate of a
 * window is the same aggregate over the aggregates of its parts.
 *
 * Paper: ''SlickDeque'', section 3.1.
 */
trait Distributive[T] extends Aggregation[T, T, T] {
  final override def lift(in: T): T = in
  final override def lower(agg: T): T = agg
}
