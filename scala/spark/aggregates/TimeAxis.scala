package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.sash.spark.base.{ArgumentChecks, SashErrors, TimeUnit}
import io.sash.spark.base.TimeUnit.{Day, Micro}

/**
 * Times as numbers on one axis, for arithmetic in doubles: microseconds for a timestamp, days for
 * a date, and the number itself for a number.
 */
private[spark] object TimeAxis {
  private val Types = "(\"NUMERIC\" or \"DATE\" or \"TIMESTAMP\")"
  private val MicrosPerDay = 86400e6

  def check(name: String, time: Expression): TypeCheckResult = time.dataType match {
    case _: NumericType | TimeUnit(Day | Micro) => TypeCheckSuccess
    case _ => ArgumentChecks.unexpectedTime(name, time, Types)
  }

  /**
   * Checks a constant distance on the axis, more than 0. For timestamps and dates it is an
   * interval of days and times; a day has 24 hours.
   */
  def checkDistance(name: String, distance: Expression, time: Expression): TypeCheckResult =
    (distance.dataType, time.dataType) match {
      case (_: DayTimeIntervalType, TimeUnit(Day | Micro)) | (_: NumericType, _: NumericType) =>
        ArgumentChecks.checkExtent(name, distance, positive = true)
      case (_, _: NumericType) => ArgumentChecks.unexpectedType(name, distance, "\"NUMERIC\"")
      case _ => ArgumentChecks.unexpectedType(name, distance, "\"INTERVAL DAY TO SECOND\"")
    }

  /**
   * A time on its own axis.
   *
   * @param function the name of the function that asks, for errors
   */
  def number(time: Expression, function: String): Expression = time.dataType match {
    case TimeUnit(Micro) =>
      Cast(PreciseTimestampConversion(time, time.dataType, LongType), DoubleType)
    case TimeUnit(Day) => Cast(UnixDate(time), DoubleType)
    case LongType =>
      StaticInvoke(
        ExactTime.getClass,
        DoubleType,
        "of",
        Seq(time, Literal(function)),
        returnNullable = false
      )
    case _: NumericType => Cast(time, DoubleType)
  }

  /** Whether values of a type have a place on the axis of another type. */
  def has(axis: DataType, value: DataType): Boolean = (axis, value) match {
    case (_: NumericType, _: NumericType)                                => true
    case (TimeUnit(Day | Micro), TimeUnit(Day | Micro) | _: NumericType) => true
    case _                                                               => false
  }

  /**
   * A time on the axis of another type, with which Spark compares it. On the axis of dates, a
   * timestamp is a number of days of local time, with fractions.
   */
  def numberOn(axis: DataType, time: Expression, function: String, zone: String): Expression = {
    def as(of: DataType) =
      number(if (time.dataType == of) time else Cast(time, of, Some(zone)), function)
    axis match {
      case TimeUnit(Day) if !Day.isUnitOf(time.dataType) =>
        Doubles.quotient(as(TimestampNTZType), Literal(MicrosPerDay))
      case TimeUnit(Day | Micro) => as(axis)
      case _                     => number(time, function)
    }
  }

  /** The value of a constant distance on the axis. */
  def number(distance: Expression, time: DataType): Double = {
    val value = Cast(
      distance,
      distance.dataType match {
        case _: DayTimeIntervalType => DayTimeIntervalType()
        case _                      => DoubleType
      }
    ).eval().asInstanceOf[Number].doubleValue
    if (Day.isUnitOf(time)) value / MicrosPerDay else value
  }

  /** A value times the time for which it holds. Over no time it is 0, even if it is infinite. */
  def area(value: Expression, held: Expression): Expression =
    If(EqualTo(held, Literal(0.0)), Literal(0.0), new Multiply(value, held))

  /** A distance of the axis in seconds, or as it is if times are numbers. */
  def seconds(distance: Expression, time: DataType): Expression = {
    val perSecond = time match {
      case TimeUnit(Micro) => 1e6
      case TimeUnit(Day)   => 1.0 / 86400
      case _: NumericType  => 1.0
    }
    Doubles.quotient(distance, Literal(perSecond))
  }
}

/** Generated code calls this method. */
private[sash] object ExactTime {
  private val Most = 1L << 53

  /** The number as a double that it equals, or an error. */
  def of(time: Long, function: UTF8String): Double =
    if (time >= -Most && time <= Most) time.toDouble
    else
      throw SashErrors.invalidArgument(
        function.toString,
        "ts",
        s"$time is more than 2^53, and no DOUBLE is exact there; take a coarser unit, as in " +
          "ts / 1000, or a timestamp"
      )
}
