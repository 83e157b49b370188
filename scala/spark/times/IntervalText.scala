package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
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
          val interval = Option(IntervalUtils.safeStringToInterval(text))
          interval.fold(throw unreadable(kind, argument, e))(literal)
        case _ => e
      }
    case _ => e
  }

  private def literal(i: CalendarInterval): Literal =
    if (i.months == 0) {
      val isOfDays = i.microseconds == 0
      val dataType =
        if (isOfDays) DayTimeIntervalType(DayTimeIntervalType.DAY) else DayTimeIntervalType()
      Literal(ConstantInterval.micros(i), dataType)
    } else if (i.days == 0 && i.microseconds == 0) Literal(i.months, YearMonthIntervalType())
    else Literal(i)

  private def unreadable(kind: String, argument: String, e: Expression): Throwable =
    SashErrors.invalidArgument(
      kind,
      argument,
      s"${e.sql} is no interval; write one as in '30 minutes'"
    )
}
