package io.sash.papers.algebra

import java.lang.{Double => JDouble}

import scala.annotation.implicitNotFound

/**
 * The maximum.
 *
 * Types: N, N, N, of Int, Long or Double. Identity: the least value of the type, -∞ for doubles.
 * An empty window answers it. Associative, commutative, selective. Cost: one comparison. -0.0 is
 * less than 0.0, and a NaN in the window makes the answer NaN, as [[Ranking]] says.
 * {{{
 * Max[Double].aggregate(3.0, 1.0, 4.0) == 4.0
 * }}}
 * For other types with an Ordering, use `Max.of`. Then an empty window answers None. Among values
 * that are neither greater nor less than each other, the first in arrival order is the answer.
 * {{{
 * Max.of[String].aggregate("b", "c", "a") == Some("c")
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
object Max {
  @implicitNotFound("Max is for Int, Long and Double, not for ${N}; see Max.of")
  sealed trait Of[N]

  def apply[N](implicit max: Of[N]): max.type = max

  def of[T](implicit ranking: Ranking[T]): SelectiveAggregation[T, Option[T], Option[T]] =
    Selection.first(ranking.highest)

  implicit object OfInt extends SelectiveInts(Int.MinValue) with Of[Int] {
    override def combine(older: Int, younger: Int): Int = Math.max(older, younger)
    override def selectsRight(older: Int, younger: Int): Boolean = younger >= older
  }

  implicit object OfLong extends SelectiveLongs(Long.MinValue) with Of[Long] {
    override def combine(older: Long, younger: Long): Long = Math.max(older, younger)
    override def selectsRight(older: Long, younger: Long): Boolean = younger >= older
  }

  implicit object OfDouble extends SelectiveDoubles(Double.NegativeInfinity) with Of[Double] {
    override def combine(older: Double, younger: Double): Double = Math.max(older, younger)
    override def selectsRight(older: Double, younger: Double): Boolean =
      JDouble.compare(younger, older) >= 0
  }
}
