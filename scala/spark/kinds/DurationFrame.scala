package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.sash.spark.base.ArgumentChecks.isInteger
import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.times.ConstantInterval

/**
 * The RANGE frame of a [[DurationWindow]]. SQL's bounds belong to the frame. So an end that does
 * not belong to the window is moved by one unit of the order: a day, a microsecond, or 1.
 *
 * The middle of an odd number of units lies between two units. No row has its place there, so it
 * makes no difference whether this end is open. The frame ends at the unit before it.
 */
private[kinds] object DurationFrame {

  def of(window: DurationWindow, order: Expression): SpecifiedWindowFrame =
    if (window.isPlain) frame(new UnaryMinus(window.size), CurrentRow)
    else
      (order.dataType, window.size.dataType) match {
        case (of, size) if isInteger(size) && (isInteger(of) || Day.isUnitOf(of)) =>
          val units = window.size.eval().asInstanceOf[Number].longValue
          whole(window, units)(n => Cast(Literal(n), window.size.dataType))
        case (TimeUnit(Day), DayTimeIntervalType(_, DayTimeIntervalType.DAY)) =>
          val days = window.size.eval().asInstanceOf[Long] / MICROS_PER_DAY
          whole(window, days)(n =>
            Literal(n * MICROS_PER_DAY, DayTimeIntervalType(DayTimeIntervalType.DAY))
          )
        case (TimeUnit(Micro), _)                      => ofTime(window)
        case (TimeUnit(Day), _: YearMonthIntervalType) => ofMonths(window)
        case (of, _) =>
          refused(window, OrderFaults.withoutUnits(of))
      }

  private def refused(window: DurationWindow, why: String): Nothing =
    throw ResolveWindowKinds.misplaced(window, s"$why, or leave out `closed` and `center`")

  private def whole(window: DurationWindow, size: Long)(
      literal: Long => Expression
  ): SpecifiedWindowFrame = {
    val (before, after) = if (window.isCentered) (size / 2, size / 2) else (size, 0L)
    val isBetween = window.isCentered && size % 2 != 0
    val lower = -before + (if (window.hasOpenStart && !isBetween) 1 else 0)
    val upper = after - (if (window.hasOpenEnd && !isBetween) 1 else 0)
    if (lower > upper)
      throw ResolveWindowKinds.misplaced(
        window,
        "no value of the order lies within it; write a larger `size`, or another `closed`"
      )
    def bound(units: Long) = if (units == 0) CurrentRow else literal(units)
    frame(bound(lower), bound(upper))
  }

  private def ofTime(window: DurationWindow): SpecifiedWindowFrame = {
    val (before, after) = around(window)
    val size = ConstantInterval.of(window.size).get
    val isBetween = window.isCentered && size.microseconds % 2 != 0
    val lower = moved(before, if (window.hasOpenStart && !isBetween) 1 else 0)
    val upper = moved(after, if (window.hasOpenEnd && !isBetween) -1 else 0)
    // Spark takes each 24 hours of a day-time interval for a day, which may have 23 in the zone
    val plain = Seq(lower, upper).forall { i =>
      i.months == 0 && i.days == 0 && math.abs(i.microseconds) < MICROS_PER_DAY
    }
    def literal(i: CalendarInterval): Literal =
      if (plain) Literal(i.microseconds, DayTimeIntervalType()) else Literal(i)
    frame(bound(lower, literal), bound(upper, literal))
  }

  /** Months over dates, and the day by which an open end is moved: months are added first. */
  private def ofMonths(window: DurationWindow): SpecifiedWindowFrame = {
    val (before, after) = around(window)
    val lower = new CalendarInterval(before.months, if (window.hasOpenStart) 1 else 0, 0)
    val upper = new CalendarInterval(after.months, if (window.hasOpenEnd) -1 else 0, 0)
    frame(bound(lower, Literal(_)), bound(upper, Literal(_)))
  }

  /** The distances of both ends from the row, with their signs. */
  private def around(window: DurationWindow): (CalendarInterval, CalendarInterval) = {
    val size = ConstantInterval.of(window.size).get
    if (!window.isCentered) (negative(size), Here)
    else {
      val half = halved(window, size)
      (negative(half), half)
    }
  }

  private val Here = new CalendarInterval(0, 0, 0)

  private def bound(i: CalendarInterval, literal: CalendarInterval => Literal): Expression =
    if (i == Here) CurrentRow else literal(i)

  private def negative(i: CalendarInterval): CalendarInterval =
    new CalendarInterval(-i.months, -i.days, -i.microseconds)

  private def moved(i: CalendarInterval, micros: Long): CalendarInterval =
    new CalendarInterval(i.months, i.days, i.microseconds + micros)

  private def halved(window: DurationWindow, i: CalendarInterval): CalendarInterval = {
    if (i.months % 2 != 0)
      throw ResolveWindowKinds.misplaced(
        window,
        "half of its months is no number of months; write an even number of them"
      )
    val hours = (i.days % 2) * (MICROS_PER_DAY / 2)
    new CalendarInterval(i.months / 2, i.days / 2, hours + i.microseconds / 2)
  }

  private def frame(lower: Expression, upper: Expression): SpecifiedWindowFrame =
    SpecifiedWindowFrame(RangeFrame, lower, upper)
}
