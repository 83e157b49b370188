package io.sash.papers.algebra

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

  implicit object OfInt extends IntOperation(1) with Of[Int] {
    override def combine(older: Int, younger: Int): Int = older * younger
  }

  implicit object OfLong extends LongOperation(1L) with Of[Long] {
    override def combine(older: Long, younger: Long): Long = older * younger
  }

  implicit object OfDouble extends DoubleOperation(1.0) with Of[Double] {
    override def combine(older: Double, younger: Double): Double = older * younger
  }
}
