package io.sash.core.algebra

import scala.annotation.implicitNotFound

/**
 * The product. (For the product of two aggregations see [[Both]].)
 *
 * Types: N, N, N, of Int, Long or Double. Identity: 1. Associative and commutative. It is not
 * invertible: no division turns 0 back into a number, nor undoes an even factor of an integer
 * that has wrapped around. Cost: one multiplication. Integers wrap around; a NaN makes the
 * product NaN.
 * {{{
 * Product[Int].aggregate(3, 1, 4) == 12
 * }}}
 * Paper: SlickDeque, sections 1 and 3.1, which count it among the invertible ones.
 */
object Product {
  @implicitNotFound("Product is for Int, Long and Double, not for ${N}")
  sealed trait Of[N]

  def apply[N](implicit product: Of[N]): product.type = product

  implicit object OfInt extends Distributive[Int] with Commutative with Of[Int] {
    override def identity: Int = 1
    override def combine(older: Int, younger: Int): Int = older * younger
    override def newColumn(): Column[Int, Int] = new IntProduct
  }

  implicit object OfLong extends Distributive[Long] with Commutative with Of[Long] {
    override def identity: Long = 1L
    override def combine(older: Long, younger: Long): Long = older * younger
    override def newColumn(): Column[Long, Long] = new LongProduct
  }

  implicit object OfDouble extends Distributive[Double] with Commutative with Of[Double] {
    override def identity: Double = 1.0
    override def combine(older: Double, younger: Double): Double = older * younger
    override def newColumn(): Column[Double, Double] = new DoubleProduct
  }

  private final class IntProduct extends IntColumn {
    override def identity(dst: Int): Unit = cells(dst) = 1

    override protected[this] def combined(older: Int, younger: Int): Int = older * younger
  }

  private final class LongProduct extends LongColumn {
    override def identity(dst: Int): Unit = cells(dst) = 1L

    override protected[this] def combined(older: Long, younger: Long): Long = older * younger
  }

  private final class DoubleProduct extends DoubleColumn {
    override def identity(dst: Int): Unit = cells(dst) = 1.0

    override protected[this] def combined(older: Double, younger: Double): Double =
      older * younger
  }
}
