package io.sash.spark.windows

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Adds a fixed number of microseconds to a timestamp. Spark adds every interval through the
 * calendar of the session's time zone. That equals plain addition if no months are added, and no
 * days whose length could vary. Fails on overflow like Spark's addition.
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

private[spark] object TimestampPlusMicros {
  private val MicrosPerDay = 24L * 60 * 60 * 1000 * 1000

  /**
   * The interval in microseconds. None if it is not constant, if its length depends on the time
   * in `key`'s zone, or if a BIGINT is too short. Then Spark's own addition applies.
   */
  def fixedMicros(key: Expression, interval: Expression, timeZone: String): Option[Long] = {
    val fixedDays = key.dataType == TimestampNTZType ||
      DateTimeUtils.getZoneId(timeZone).getRules.isFixedOffset
    (if (interval.foldable) interval.eval() else null) match {
      case micros: Long if fixedDays || (-MicrosPerDay < micros && micros < MicrosPerDay) =>
        Some(micros)
      case i: CalendarInterval if i.months == 0 && (fixedDays || i.days == 0) =>
        Try(
          Math.addExact(Math.multiplyExact(i.days.toLong, MicrosPerDay), i.microseconds)
        ).toOption
      case _ => None
    }
  }
}
