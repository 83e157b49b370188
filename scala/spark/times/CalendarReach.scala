package io.sash.spark.times

import java.time.{Instant, ZonedDateTime, ZoneId, ZoneOffset}
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * [[Reach]] for a timestamp and an interval whose length depends on the calendar, and for a
 * TIMESTAMP also on the time zone. Like Spark, it adds months before days, and days before hours.
 */
private[spark] final case class CalendarReach(
    key: Expression,
    extent: Expression,
    up: Boolean,
    strict: Boolean,
    timeZoneId: Option[String]
) extends KeyPlusExtent
    with TimeZoneAwareExpression {
  override def withTimeZone(timeZoneId: String): TimeZoneAwareExpression =
    copy(timeZoneId = Option(timeZoneId))

  @transient private lazy val zone: ZoneId =
    if (key.dataType == TimestampNTZType) ZoneOffset.UTC
    else DateTimeUtils.getZoneId(timeZoneId.get)

  override protected def nullSafeEval(k: Any, e: Any): Any = {
    val start = k.asInstanceOf[Long]
    e match {
      case months: Int         => CalendarReach.months(start, months, up, strict, zone)
      case micros: Long        => CalendarReach.micros(start, micros, up, strict, zone)
      case i: CalendarInterval => CalendarReach.interval(start, i, up, strict, zone)
    }
  }

  private def method: String = extent.dataType match {
    case _: YearMonthIntervalType => "months"
    case _: DayTimeIntervalType   => "micros"
    case _                        => "interval"
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val owner = CalendarReach.getClass.getName.stripSuffix("$")
    val in = ctx.addReferenceObj("zone", zone, classOf[ZoneId].getName)
    defineCodeGen(ctx, ev, (k, e) => s"$owner.$method($k, $e, $up, $strict, $in)")
  }

  override protected def withNewChildrenInternal(k: Expression, e: Expression): CalendarReach =
    copy(key = k, extent = e)
}

/** Generated code calls these methods. Extents are 0 or more, and more than 0 if `strict`. */
private[sash] object CalendarReach {

  def months(start: Long, months: Int, up: Boolean, strict: Boolean, zone: ZoneId): Long =
    moved(start, months.toLong, 0L, 0L, up, strict, zone)

  def micros(start: Long, micros: Long, up: Boolean, strict: Boolean, zone: ZoneId): Long = {
    val days = if (zone.getRules.isFixedOffset) 0L else micros / MICROS_PER_DAY
    moved(start, 0L, days, micros - days * MICROS_PER_DAY, up, strict, zone)
  }

  def interval(
      start: Long,
      extent: CalendarInterval,
      up: Boolean,
      strict: Boolean,
      zone: ZoneId
  ): Long = {
    val (months, days) = (extent.months.toLong, extent.days.toLong)
    moved(start, months, days, extent.microseconds, up, strict, zone)
  }

  /**
   * Moves `start`. Without months and days, the calendar is not used. If `strict`, the result is
   * one microsecond short of the end. An end beyond BIGINT becomes its least or greatest value,
   * `strict` or not.
   */
  private def moved(
      start: Long,
      months: Long,
      days: Long,
      micros: Long,
      up: Boolean,
      strict: Boolean,
      zone: ZoneId
  ): Long =
    if (months == 0 && days == 0 && micros >= 0) ReachArithmetic.longs(start, micros, up, strict)
    else {
      val from = DateTimeUtils.microsToInstant(start).atZone(zone)
      val end =
        if (up) from.plusMonths(months).plusDays(days).plus(micros, ChronoUnit.MICROS)
        else from.minusMonths(months).minusDays(days).minus(micros, ChronoUnit.MICROS)
      toMicros(if (strict) end.plus(if (up) -1L else 1L, ChronoUnit.MICROS) else end)
    }

  private def toMicros(at: ZonedDateTime): Long =
    if (at.toInstant.compareTo(First) <= 0) Long.MinValue
    else if (at.toInstant.compareTo(Last) >= 0) Long.MaxValue
    else DateTimeUtils.instantToMicros(at.toInstant)

  private val First: Instant = DateTimeUtils.microsToInstant(Long.MinValue)
  private val Last: Instant = DateTimeUtils.microsToInstant(Long.MaxValue)
}
