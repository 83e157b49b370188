package io.sash.papers.algebra

/**
 * How often the minimum occurs.
 *
 * Types: T, Option[(T, Long)], Long. Identity: None, an occurrence of 0 times. Associative and
 * commutative. Cost: one comparison. A NaN is the minimum, as [[Ranking]] says.
 * {{{
 * MinCount[Long].aggregate(4L, 0L, 3L, 5L, 0L) == 2L
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
sealed class MinCount[T](ranking: Ranking[T]) extends ExtremeCount[T](ranking.lowest)

object MinCount extends MinCountByRanking {
  def apply[T](implicit count: MinCount[T]): MinCount[T] = count

  implicit object OfLong extends MinCount[Long](implicitly) with MakesColumn[Long, Long] {
    override def newColumn(): Column[Long, Long] = new LongExtremeCount(lowest = true)
  }

  implicit object OfDouble extends MinCount[Double](implicitly) with MakesColumn[Double, Long] {
    override def newColumn(): Column[Double, Long] = new DoubleExtremeCount(lowest = true)
  }
}

private[algebra] sealed trait MinCountByRanking {
  implicit def byRanking[T](implicit ranking: Ranking[T]): MinCount[T] = new MinCount(ranking)
}
