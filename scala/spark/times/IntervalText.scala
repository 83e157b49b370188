package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.types.{DayTimeIntervalType, StringType, YearMonthIntervalType}
import org.apache.spark.sql.types.DayTimeIntervalType.DAY
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import io.sash.spark.base.SashErrors

/** Reads the constant distances that functions take: intervals, or texts of intervals. */
private[spark] object IntervalText {

  /**
   * Turns a string constant into an interval, as in Spark's `window(time, '30 minutes')`. An
   * interval of whole days gets the type INTERVAL DAY, since Spark adds no DAY TO SECOND, such as
   * Python's `timedelta(days=2)`, to a DATE. Other expressions stay unchanged.
   */
  def of(kind: String, argument: String, e: Expression): Expression =
    if (!e.resolved || !e.foldable) e
    else
      (e.dataType, e.eval()) match {
        case (_: StringType, text: UTF8String) =>
          val interval = Option(IntervalUtils.safeStringToInterval(text))
          interval.fold(throw unreadable(kind, argument, e))(literal)
        case (DayTimeIntervalType(_, unit), micros: Long) if unit != DAY => ofTime(micros)
        case _                                                           => e
      }

  private def literal(i: CalendarInterval): Literal =
    if (i.months == 0) ofTime(ConstantInterval.micros(i))
    else if (i.days == 0 && i.microseconds == 0) Literal(i.months, YearMonthIntervalType())
    else Literal(i)

  private def ofTime(micros: Long): Literal = {
    val isOfDays = micros % MICROS_PER_DAY == 0
    Literal(micros, if (isOfDays) DayTimeIntervalType(DAY) else DayTimeIntervalType())
  }

  private def unreadable(kind: String, argument: String, e: Expression): Throwable =
    SashErrors.invalidArgument(
      kind,
      argument,
      s"${e.sql} is no interval; write one as in '30 minutes'"
    )
}
