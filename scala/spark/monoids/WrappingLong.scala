package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * Addition and subtraction of longs that wrap around in any ANSI mode, for cells whose range is
 * known. Catalyst's own operators take the mode from the session in some Spark versions, and from
 * an argument of varying type in others.
 */
private[spark] final case class WrappingLong(symbol: String, left: Expression, right: Expression)
    extends BinaryExpression {
  override def prettyName: String = "wrapping"

  override def dataType: DataType = LongType

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(l: Any, r: Any): Any =
    if (symbol == "+") l.asInstanceOf[Long] + r.asInstanceOf[Long]
    else l.asInstanceOf[Long] - r.asInstanceOf[Long]

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, (l, r) => s"($l $symbol $r)")

  override protected def withNewChildrenInternal(l: Expression, r: Expression): WrappingLong =
    copy(left = l, right = r)
}

private[spark] object WrappingLong {
  def add(left: Expression, right: Expression): Expression = WrappingLong("+", left, right)

  def subtract(left: Expression, right: Expression): Expression = WrappingLong("-", left, right)
}
