package io.sash.papers.algebra

import java.lang.{Double => JDouble}

import scala.annotation.implicitNotFound

/**
 * The minimum. The identity is the greatest value of the type, ∞ for doubles. All else is as in
 * [[Max]].
 * {{{
 * Min[Double].aggregate(3.0, 1.0, 4.0) == 1.0
 * Min.of[String].aggregate("b", "c", "a") == Some("a")
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
object Min {
  @implicitNotFound("Min is for Int, Long and Double, not for ${N}; see Min.of")
  sealed trait Of[N]

  def apply[N](implicit min: Of[N]): min.type = min

  def of[T](implicit ranking: Ranking[T]): SelectiveAggregation[T, Option[T], Option[T]] =
    Selection.first(ranking.lowest)

  implicit object OfInt extends SelectiveInts(Int.MaxValue) with Of[Int] {
    override def combine(older: Int, younger: Int): Int = Math.min(older, younger)
    override def selectsRight(older: Int, younger: Int): Boolean = younger <= older
  }

  implicit object OfLong extends SelectiveLongs(Long.MaxValue) with Of[Long] {
    override def combine(older: Long, younger: Long): Long = Math.min(older, younger)
    override def selectsRight(older: Long, younger: Long): Boolean = younger <= older
  }

  implicit object OfDouble extends SelectiveDoubles(Double.PositiveInfinity) with Of[Double] {
    override def combine(older: Double, younger: Double): Double = Math.min(older, younger)
    override def selectsRight(older: Double, younger: Double): Boolean =
      JDouble.compare(-younger, -older) >= 0
  }
}
