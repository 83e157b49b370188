package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.types.{DayTimeIntervalType, StringType, YearMonthIntervalType}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import io.sash.spark.base.SashErrors

/** Lets a string constant stand for an interval, as in Spark's `window(time, '30 minutes')`. */
private[spark] object IntervalText {

  /**
   * Turns a string constant into an interval of the type that INTERVAL '…' would have. Returns
   * all other expressions unchanged.
   */
  def of(kind: String, argument: String, e: Expression): Expression = e match {
    case constant
        if constant.resolved && constant.foldable && constant.dataType.isInstanceOf[StringType] =>
      e.eval() match {
        case text: UTF8String =>
          Option(IntervalUtils.safeStringToInterval(text))
            .fold(throw unreadable(kind, argument, e))(
              literal
            )
        case _ => e
      }
    case _ => e
  }

  private def literal(interval: CalendarInterval): Literal = {
    import DayTimeIntervalType.DAY
    val (months, days, micros) = (interval.months, interval.days, interval.microseconds)
    if (months == 0 && micros == 0)
      Literal(Math.multiplyExact(days.toLong, MICROS_PER_DAY), DayTimeIntervalType(DAY))
    else if (months == 0)
      Literal(
        Math.addExact(Math.multiplyExact(days.toLong, MICROS_PER_DAY), micros),
        DayTimeIntervalType()
      )
    else if (days == 0 && micros == 0) Literal(months, YearMonthIntervalType())
    else Literal(interval)
  }

  private def unreadable(kind: String, argument: String, e: Expression): Throwable =
    SashErrors.invalidArgument(
      kind,
      argument,
      s"${e.sql} is no interval; write one as in '30 minutes'"
    )
}
