package io.sash.spark.functions

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.DoubleType

/**
 * Arithmetic of doubles as IEEE 754 has it. Spark's own division by 0 is an error or NULL, as the
 * session says, and its logarithm of what is not positive is NULL.
 */
private[functions] object Doubles {
  def log(x: Expression): Expression = call(classOf[Math], "log", x)

  def exp(x: Expression): Expression = call(classOf[Math], "exp", x)

  def quotient(x: Expression, y: Expression): Expression =
    call(DoubleArithmetic.getClass, "quotient", x, y)

  /** Of a sum, and of a BIGINT that counts its terms. */
  def mean(sum: Expression, count: Expression): Expression =
    call(DoubleArithmetic.getClass, "mean", sum, count)

  private def call(owner: Class[_], name: String, arguments: Expression*): Expression =
    StaticInvoke(owner, DoubleType, name, arguments, returnNullable = false)
}

/** Called by generated code. */
private[sash] object DoubleArithmetic {
  def quotient(x: Double, y: Double): Double = x / y

  def mean(sum: Double, count: Long): Double = sum / count.toDouble
}
