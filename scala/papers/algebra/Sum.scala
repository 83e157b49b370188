package io.sash.papers.algebra

import java.math.{BigDecimal => JBigDecimal}
import java.util.Objects

import scala.annotation.implicitNotFound

import io.sash.core.algebra.Adapted
import io.sash.core.slots.Invertible

/**
 * The sum.
 *
 * Types: N, N, N, of Int, Long, Double or java.math.BigDecimal; BigDecimal, its Java twin,
 * BigDecimal; Float, Double, Double. Identity: 0. Associative and commutative. It is invertible
 * for integers, which wrap around as in Scala, and for decimals, which keep all their digits: the
 * inverse is exact. After an eviction a decimal equals the sum as a number, but may end in more
 * zeros. A sum of doubles or floats is associative up to rounding and has no inverse: SlickDeque
 * (Inv) refuses it. Floats are summed as doubles. Cost: one addition. A NaN, or infinities of
 * both signs, make the sum NaN for as long as they are in the window, and no longer. A null is
 * refused.
 * {{{
 * Sum[Long].aggregate(3L, 1L, 4L) == 8L
 * Sum[Float].aggregate(1e8f, 1f, 1f) == 100000002.0
 * Sum[BigDecimal].aggregate(BigDecimal("0.1"), BigDecimal("0.2")) == BigDecimal("0.3")
 * }}}
 * Paper: Reactive Aggregator, table 1, whose table 2 calls every sum invertible.
 */
object Sum {
  @implicitNotFound("Sum is for Int, Long, Float, Double and BigDecimal, not for ${N}")
  sealed trait Of[N]

  def apply[N](implicit sum: Of[N]): sum.type = sum

  implicit object OfInt
      extends IntOperation(0)
      with InvertibleAggregation[Int, Int, Int]
      with Of[Int] {
    override def combine(older: Int, younger: Int): Int = older + younger
    override def subtract(whole: Int, oldest: Int): Int = whole - oldest
    override def newColumn(): Column[Int, Int] with Invertible =
      new IntColumn(this) with Invertible {
        override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
          cells(dst) = cells(whole) - cells(oldest)
      }
  }

  implicit object OfLong
      extends LongOperation(0L)
      with InvertibleAggregation[Long, Long, Long]
      with Of[Long] {
    override def combine(older: Long, younger: Long): Long = older + younger
    override def subtract(whole: Long, oldest: Long): Long = whole - oldest
    override def newColumn(): Column[Long, Long] with Invertible =
      new LongColumn(this) with Invertible {
        override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
          cells(dst) = cells(whole) - cells(oldest)
      }
  }

  implicit object OfDouble extends DoubleOperation(0.0) with Of[Double] {
    override def combine(older: Double, younger: Double): Double = older + younger
  }

  implicit object OfFloat
      extends Adapted[Float, Double, Double, Double, Double](OfDouble, _.toDouble, x => x)
      with Of[Float]

  implicit object OfJavaBigDecimal
      extends InvertibleAggregation[JBigDecimal, JBigDecimal, JBigDecimal]
      with Commutative
      with Of[JBigDecimal] {
    override def identity: JBigDecimal = JBigDecimal.ZERO
    override def lift(in: JBigDecimal): JBigDecimal =
      Objects.requireNonNull(in, "a null cannot be added")
    override def lower(agg: JBigDecimal): JBigDecimal = agg
    override def combine(older: JBigDecimal, younger: JBigDecimal): JBigDecimal =
      older.add(younger)
    override def subtract(whole: JBigDecimal, oldest: JBigDecimal): JBigDecimal =
      whole.subtract(oldest)
  }

  implicit object OfBigDecimal
      extends InvertibleAdapted[BigDecimal, JBigDecimal, JBigDecimal, JBigDecimal, BigDecimal](
        OfJavaBigDecimal,
        _.bigDecimal,
        new BigDecimal(_)
      )
      with Of[BigDecimal]
}
