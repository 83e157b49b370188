package io.sash.papers.algebra

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
sealed class MaxCount[T](ranking: Ranking[T]) extends ExtremeCount[T](ranking.highest)

object MaxCount extends MaxCountByRanking {
  def apply[T](implicit count: MaxCount[T]): MaxCount[T] = count

  implicit object OfLong extends MaxCount[Long](implicitly) with MakesColumn[Long, Long] {
    override def newColumn(): Column[Long, Long] = new LongExtremeCount(lowest = false)
  }

  implicit object OfDouble extends MaxCount[Double](implicitly) with MakesColumn[Double, Long] {
    override def newColumn(): Column[Double, Long] = new DoubleExtremeCount(lowest = false)
  }
}

private[algebra] sealed trait MaxCountByRanking {
  implicit def byRanking[T](implicit ranking: Ranking[T]): MaxCount[T] = new MaxCount(ranking)
}
