package io.sash.papers.algebra

import scala.annotation.implicitNotFound

import io.sash.core.slots.Invertible

/**
 * The arithmetic mean, from sum and count.
 *
 * Types: N, (N, Long), Double, of Long or Double. Identity: (0, 0), whose mean is NaN.
 * Associative and commutative. It is invertible for longs, whose sum wraps around, but not for
 * doubles, as [[Sum]] says. Cost: two additions. A NaN makes the mean NaN.
 * {{{
 * ArithmeticMean[Double].aggregate(3.0, 1.0, 5.0) == 3.0
 * }}}
 * Papers: Reactive Aggregator, table 1; SlickDeque, section 3.1.
 */
object ArithmeticMean {
  @implicitNotFound("ArithmeticMean is for Long and Double, not for ${N}")
  sealed trait Of[N]

  def apply[N](implicit mean: Of[N]): mean.type = mean

  implicit object OfLong
      extends InvertibleAlgebraic[Long, Long, Long, Long, Long, Double](Sum[Long], Count[Long])(
        (sum, count) => sum.toDouble / count
      )
      with Of[Long] {
    override def newColumn(): Column[Long, Double] with Invertible = new LongMean
  }

  implicit object OfDouble
      extends Algebraic[Double, Double, Double, Long, Long, Double](Sum[Double], Count[Double])(
        (sum, count) => sum / count
      )
      with Of[Double] {
    override def newColumn(): Column[Double, Double] = new DoubleMean
  }

  private final class LongMean extends LongSumAndCount with Column[Long, Double] with Invertible {
    override def lift(slot: Int, in: Long): Unit = put(slot, in, 1L)

    override def subtract(dst: Int, whole: Int, oldest: Int): Unit = put(
      dst,
      cells(2 * whole) - cells(2 * oldest),
      cells(2 * whole + 1) - cells(2 * oldest + 1)
    )

    override def lower(slot: Int): Double = cells(2 * slot).toDouble / cells(2 * slot + 1)
  }

  private final class DoubleMean extends DoubleSumAndCount with Column[Double, Double] {
    override def lift(slot: Int, in: Double): Unit = put(slot, in, 1.0)
    override def lower(slot: Int): Double = cells(2 * slot) / cells(2 * slot + 1)
  }
}
