package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/**
 * How often the maximum occurs.
 *
 * Types: T, Option[(T, Long)], Long. Identity: None, an occurrence of 0 times. Associative and
 * commutative. Cost: one comparison. A NaN is the maximum, as [[Ranking]] says.
 * {{{
 * MaxCount[Long].aggregate(4L, 5L, 3L, 5L, 0L) == 2L
 * }}}
 * Paper: Reactive Aggregator, table 1; the running example of ''In-Order Sliding-Window
 * Aggregation in Worst-Case Constant Time'', section 2.2.
 */
object MaxCount {
  def apply[T](implicit ranking: Ranking[T]): Aggregation[T, Option[(T, Long)], Long] =
    new ExtremeCount(ranking, lowest = false)
}
