package io.sash.spark.times

import java.util.concurrent.TimeUnit.MICROSECONDS

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.types.{DayTimeIntervalType, YearMonthIntervalType}
import org.apache.spark.unsafe.types.CalendarInterval

/** Reads constant intervals of any type as months, whole days and microseconds. */
private[spark] object ConstantInterval {

  /** The interval; none if the expression is no interval, is NULL or is not constant. */
  def of(e: Expression): Option[CalendarInterval] =
    (if (e.foldable) e.eval() else null, e.dataType) match {
      case (months: Int, _: YearMonthIntervalType) => Some(new CalendarInterval(months, 0, 0))
      case (micros: Long, _: DayTimeIntervalType) =>
        val days = (micros / MICROS_PER_DAY).toInt
        Some(new CalendarInterval(0, days, micros % MICROS_PER_DAY))
      case (interval: CalendarInterval, _) => Some(interval)
      case _                               => None
    }

  /** The length of an interval without months in microseconds, if a day has 24 hours. */
  def micros(i: CalendarInterval): Long = IntervalUtils.getDuration(i, MICROSECONDS)

  /** Whether the sum of a time and the interval may be later than the time. */
  def mayLeadAhead(e: Expression): Boolean =
    of(e).exists(i => i.months > 0 || i.days > 0 || i.microseconds > 0)
}
