package io.sash.spark.functions

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.DoubleType

/**
 * Arithmetic of doubles as in IEEE 754. Spark's own division by 0 fails or returns NULL,
 * depending on the session, and its logarithm returns NULL for arguments of 0 and less.
 */
private[functions] object Doubles {
  def log(x: Expression): Expression = call(classOf[Math], "log", x)

  def exp(x: Expression): Expression = call(classOf[Math], "exp", x)

  def quotient(x: Expression, y: Expression): Expression =
    call(DoubleArithmetic.getClass, "quotient", x, y)

  /** The sum, which is -Infinity if a term is. */
  def sumOrLeast(x: Expression, y: Expression): Expression =
    call(DoubleArithmetic.getClass, "sumOrLeast", x, y)

  /** The mean, from a sum and a BIGINT that counts its terms. */
  def mean(sum: Expression, count: Expression): Expression =
    call(DoubleArithmetic.getClass, "mean", sum, count)

  private def call(owner: Class[_], name: String, arguments: Expression*): Expression =
    StaticInvoke(owner, DoubleType, name, arguments, returnNullable = false)
}

/** Generated code calls these methods. */
private[sash] object DoubleArithmetic {
  def quotient(x: Double, y: Double): Double = x / y

  def sumOrLeast(x: Double, y: Double): Double =
    if (x == Double.NegativeInfinity || y == Double.NegativeInfinity) Double.NegativeInfinity
    else x + y

  def mean(sum: Double, count: Long): Double = sum / count.toDouble
}
