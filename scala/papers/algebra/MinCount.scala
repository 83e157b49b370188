package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/**
 * How often the minimum occurs. All else is as in [[MaxCount]].
 * {{{
 * MinCount[Long].aggregate(4L, 0L, 3L, 5L, 0L) == 2L
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
object MinCount {
  def apply[T](implicit ranking: Ranking[T]): Aggregation[T, Option[(T, Long)], Long] =
    new ExtremeCount(ranking, lowest = true)
}
