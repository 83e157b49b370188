package io.sash.spark.kinds

import java.util.concurrent.TimeUnit.MICROSECONDS

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * The panes of a slide by time. They begin at multiples of the slide since 1970-01-01 00:00:00
 * UTC, like those in Spark's `window` function, or at the beginning of a month.
 */
private[spark] object PaneNumbers {

  /**
   * A number that identifies a row's pane. None if an order of this type has no panes of this
   * width.
   */
  def number(by: Expression, every: Expression, timeZone: String): Option[Expression] =
    (by.dataType, every.eval()) match {
      case (TimestampType | TimestampNTZType, width) if micros(width, every).nonEmpty =>
        val at = PreciseTimestampConversion(by, by.dataType, LongType)
        micros(width, every).map(floored(at, _))
      case (DateType, width) if micros(width, every).exists(_ % MICROS_PER_DAY == 0) =>
        micros(width, every).map(m => floored(Cast(UnixDate(by), LongType), m / MICROS_PER_DAY))
      case (DateType | TimestampType | TimestampNTZType, width) =>
        months(width, every).map { m =>
          val date = if (by.dataType == DateType) by else Cast(by, DateType, Some(timeZone))
          val years = new Multiply(Cast(Year(date), LongType), Literal(12L))
          floored(new Add(years, Cast(new Subtract(Month(date), Literal(1)), LongType)), m)
        }
      case _ => None
    }

  /** The greatest multiple of `width` up to `at`, which is the same for all rows of a pane. */
  private def floored(at: Expression, width: Long): Expression =
    new Subtract(at, new Pmod(at, Literal(width)))

  private def micros(width: Any, every: Expression): Option[Long] =
    (width, every.dataType) match {
      case (m: Long, _: DayTimeIntervalType) => Some(m)
      case (i: CalendarInterval, _) if i.months == 0 =>
        Some(IntervalUtils.getDuration(i, MICROSECONDS))
      case _ => None
    }

  private def months(width: Any, every: Expression): Option[Long] =
    (width, every.dataType) match {
      case (m: Int, _: YearMonthIntervalType)                             => Some(m.toLong)
      case (i: CalendarInterval, _) if i.days == 0 && i.microseconds == 0 => Some(i.months.toLong)
      case _                                                              => None
    }
}
