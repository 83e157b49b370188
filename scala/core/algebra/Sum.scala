package io.sash.core.algebra

import scala.annotation.implicitNotFound

import io.sash.core.slots.Invertible

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

  implicit object OfInt
      extends InvertibleAggregation[Int, Int, Int]
      with Distributive[Int]
      with Commutative
      with Of[Int] {
    override def identity: Int = 0
    override def combine(older: Int, younger: Int): Int = older + younger
    override def subtract(whole: Int, oldest: Int): Int = whole - oldest
    override def newColumn(): Column[Int, Int] with Invertible = new IntSum
  }

  implicit object OfLong
      extends InvertibleAggregation[Long, Long, Long]
      with Distributive[Long]
      with Commutative
      with Of[Long] {
    override def identity: Long = 0L
    override def combine(older: Long, younger: Long): Long = older + younger
    override def subtract(whole: Long, oldest: Long): Long = whole - oldest
    override def newColumn(): Column[Long, Long] with Invertible = new LongSum
  }

  implicit object OfDouble extends Distributive[Double] with Commutative with Of[Double] {
    override def identity: Double = 0.0
    override def combine(older: Double, younger: Double): Double = older + younger
    override def newColumn(): Column[Double, Double] = new DoubleSum
  }

  private final class IntSum extends IntColumn with Invertible {
    override def identity(dst: Int): Unit = cells(dst) = 0

    override protected[this] def combined(older: Int, younger: Int): Int = older + younger

    override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
      cells(dst) = cells(whole) - cells(oldest)
  }

  private final class LongSum extends LongColumn with Invertible {
    override def identity(dst: Int): Unit = cells(dst) = 0L

    override protected[this] def combined(older: Long, younger: Long): Long = older + younger

    override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
      cells(dst) = cells(whole) - cells(oldest)
  }

  private final class DoubleSum extends DoubleColumn {
    override def identity(dst: Int): Unit = cells(dst) = 0.0

    override protected[this] def combined(older: Double, younger: Double): Double =
      older + younger
  }
}
