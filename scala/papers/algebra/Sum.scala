package io.sash.papers.algebra

import scala.annotation.implicitNotFound

/**
 * The sum.
 *
 * Types: N, N, N, of Int, Long or Double. Identity: 0. Associative and commutative. It is
 * invertible for integers: they wrap around as in Scala, and the inverse is exact even then. A
 * sum of doubles is associative up to rounding and has no inverse: SlickDeque (Inv) refuses it.
 * Cost: one addition. A NaN, or infinities of both signs, make the sum NaN for as long as they
 * are in the window, and no longer.
 * {{{
 * Sum[Long].aggregate(3L, 1L, 4L) == 8L
 * }}}
 * Paper: Reactive Aggregator, table 1, whose table 2 calls every sum invertible.
 */
object Sum {
  @implicitNotFound("Sum is for Int, Long and Double, not for ${N}")
  sealed trait Of[N]

  def apply[N](implicit sum: Of[N]): sum.type = sum

  implicit object OfInt extends InvertibleInts(0) with Of[Int] {
    override def combine(older: Int, younger: Int): Int = older + younger
    override def subtract(whole: Int, oldest: Int): Int = whole - oldest
  }

  implicit object OfLong extends InvertibleLongs(0L) with Of[Long] {
    override def combine(older: Long, younger: Long): Long = older + younger
    override def subtract(whole: Long, oldest: Long): Long = whole - oldest
  }

  implicit object OfDouble extends DoubleOperation(0.0) with Of[Double] {
    override def combine(older: Double, younger: Double): Double = older + younger
  }
}
