package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.DataType

/**
 * Adds a fixed number of microseconds to a timestamp. Spark adds each interval by the calendar of
 * the session's time zone. That equals this addition, unless the interval has months, or days in
 * a time zone whose clocks change. Like Spark's addition, it throws on overflow. NULL for NULL.
 */
private[spark] final case class TimestampPlusMicros(child: Expression, micros: Long)
    extends UnaryExpression {
  override def prettyName: String = "plus_micros"

  override def dataType: DataType = child.dataType

  override def nullIntolerant: Boolean = true

  override def sql: String = s"(${child.sql} + $micros us)"

  override protected def nullSafeEval(start: Any): Any =
    Math.addExact(start.asInstanceOf[Long], micros)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, start => s"java.lang.Math.addExact($start, ${micros}L)")

  override protected def withNewChildInternal(newChild: Expression): TimestampPlusMicros =
    copy(child = newChild)
}
