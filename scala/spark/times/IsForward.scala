package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.unsafe.types.CalendarInterval

/** Whether a calendar interval is 0 or more, if a month has 30 days and a day 24 hours. */
private[sash] object IsForward {
  private val DaysPerMonth = 30L

  def apply(interval: Expression): Expression =
    StaticInvoke(IsForward.getClass, BooleanType, "holds", Seq(interval))

  /** Generated code calls this. */
  def holds(interval: CalendarInterval): Boolean =
    interval.months * DaysPerMonth + interval.days +
      Math.floorDiv(interval.microseconds, MICROS_PER_DAY) >= 0
}
