package io.sash.core.algebra

import java.lang.{Double => JDouble}

import scala.annotation.implicitNotFound

import io.sash.core.slots.Selective

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
    new Selection[T, T] {
      override protected def replaces(younger: T, older: T): Boolean =
        ranking.highest.gt(younger, older)
      override protected def answer(in: T): T = in
    }

  implicit object OfInt
      extends SelectiveAggregation[Int, Int, Int]
      with Distributive[Int]
      with Commutative
      with Of[Int] {
    override def identity: Int = Int.MinValue
    override def combine(older: Int, younger: Int): Int = Math.max(older, younger)
    override def selectsRight(older: Int, younger: Int): Boolean = younger >= older
    override def newColumn(): Column[Int, Int] with Selective = new IntMax
  }

  implicit object OfLong
      extends SelectiveAggregation[Long, Long, Long]
      with Distributive[Long]
      with Commutative
      with Of[Long] {
    override def identity: Long = Long.MinValue
    override def combine(older: Long, younger: Long): Long = Math.max(older, younger)
    override def selectsRight(older: Long, younger: Long): Boolean = younger >= older
    override def newColumn(): Column[Long, Long] with Selective = new LongMax
  }

  implicit object OfDouble
      extends SelectiveAggregation[Double, Double, Double]
      with Distributive[Double]
      with Commutative
      with Of[Double] {
    override def identity: Double = Double.NegativeInfinity
    override def combine(older: Double, younger: Double): Double = Math.max(older, younger)
    override def selectsRight(older: Double, younger: Double): Boolean =
      JDouble.compare(younger, older) >= 0
    override def newColumn(): Column[Double, Double] with Selective = new DoubleMax
  }

  private final class IntMax extends IntColumn with Selective {
    override def identity(dst: Int): Unit = cells(dst) = Int.MinValue

    override protected[this] def combined(older: Int, younger: Int): Int =
      Math.max(older, younger)

    override def selectsRight(left: Int, right: Int): Boolean = cells(right) >= cells(left)
  }

  private final class LongMax extends LongColumn with Selective {
    override def identity(dst: Int): Unit = cells(dst) = Long.MinValue

    override protected[this] def combined(older: Long, younger: Long): Long =
      Math.max(older, younger)

    override def selectsRight(left: Int, right: Int): Boolean = cells(right) >= cells(left)
  }

  private final class DoubleMax extends DoubleColumn with Selective {
    override def identity(dst: Int): Unit = cells(dst) = Double.NegativeInfinity

    override protected[this] def combined(older: Double, younger: Double): Double =
      Math.max(older, younger)

    override def selectsRight(left: Int, right: Int): Boolean =
      JDouble.compare(cells(right), cells(left)) >= 0
  }
}
