package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.DoubleType

/**
 * Arithmetic of doubles as in IEEE 754. Spark's own division by 0 fails or returns NULL,
 * depending on the session, and its logarithm returns NULL for arguments of 0 and less.
 */
private[aggregates] object Doubles {
  def log(x: Expression): Expression = call(classOf[Math], "log", x)

  def exp(x: Expression): Expression = call(classOf[Math], "exp", x)

  def quotient(x: Expression, y: Expression): Expression =
    call(DoubleArithmetic.getClass, "quotient", x, y)

  /** A sum times a weight. An infinite sum stays, although its weight may be too small. */
  def weighted(sum: Expression, weight: Expression): Expression =
    call(DoubleArithmetic.getClass, "weighted", sum, weight)

  /** y - x, and 0 for equal numbers, also if both are infinite. */
  def distance(x: Expression, y: Expression): Expression =
    call(DoubleArithmetic.getClass, "distance", x, y)

  /** The mean, from a sum and a BIGINT that counts its terms. */
  def mean(sum: Expression, count: Expression): Expression =
    call(DoubleArithmetic.getClass, "mean", sum, count)

  /** The mean, from a sum and the sum of its terms' weights; NULL without a weight. */
  def weightedMean(sum: Expression, weight: Expression): Expression = If(
    EqualTo(weight, Literal(0.0)),
    Literal.create(null, DoubleType),
    quotient(sum, weight)
  )

  def plus(x: Expression, y: Expression): Expression = new Add(x, y)

  def times(x: Expression, y: Expression): Expression = new Multiply(x, y)

  private def call(owner: Class[_], name: String, arguments: Expression*): Expression =
    StaticInvoke(owner, DoubleType, name, arguments, returnNullable = false)
}

/** Generated code calls these methods. */
private[sash] object DoubleArithmetic {
  def quotient(x: Double, y: Double): Double = x / y

  def weighted(sum: Double, weight: Double): Double =
    if (sum.isInfinite && !weight.isNaN) sum else sum * weight

  def distance(x: Double, y: Double): Double = if (x == y) 0.0 else y - x

  def mean(sum: Double, count: Long): Double = sum / count.toDouble
}
