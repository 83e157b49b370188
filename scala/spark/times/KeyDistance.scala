package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.types.DayTimeIntervalType.DAY

import io.sash.spark.base.{SparkVersions, TimeUnit}
import io.sash.spark.base.TimeUnit.{Day, Micro}

/** Makes expressions for values at a distance from an order key, which is a time or a number. */
private[spark] object KeyDistance {

  /** key + offset, computed as in WindowExec. A descending order negates the offset. */
  def shifted(
      key: Expression,
      direction: SortDirection,
      offset: Expression,
      timeZone: String
  ): Expression = {
    val signed = direction match {
      case Descending => new UnaryMinus(offset)
      case _          => offset
    }
    (key.dataType, signed.dataType) match {
      case (TimeUnit(Day), IntegerType)              => DateAdd(key, signed)
      case (TimeUnit(Day), CalendarIntervalType)     => ofMonthsAndDays(key, signed)
      case (TimeUnit(Day), _: YearMonthIntervalType) => DateAddYMInterval(key, signed)
      case (TimeUnit(Day), DayTimeIntervalType(DAY, DAY)) =>
        DateAdd(key, ExtractANSIIntervalDays(signed))
      case (TimeUnit(Micro), _: YearMonthIntervalType) =>
        TimestampAddYMInterval(key, signed, Some(timeZone))
      case (TimeUnit(Micro), _) =>
        Distance.fixedMicros(key, signed, timeZone) match {
          case Some(micros) => TimestampPlusMicros(key, micros)
          case None         => SparkVersions.timestampAddInterval(key, signed, timeZone)
        }
      case (d: DecimalType, _: DecimalType) => DecimalAddNoOverflowCheck(key, signed, d)
      case (of @ TimeUnit(_), by) =>
        throw new IllegalStateException(s"no ${by.sql} is added to a ${of.sql}")
      case _ => new Add(key, signed)
    }
  }

  private def ofMonthsAndDays(date: Expression, constant: Expression): Expression = {
    val i = ConstantInterval.of(constant).get
    DateAdd(DateAddYMInterval(date, Literal(i.months, YearMonthIntervalType())), Literal(i.days))
  }

  /**
   * The farthest value within an extent from a key: a [[Reach]], or a `CalendarReach` if the
   * extent's length depends on the calendar.
   */
  def reach(
      key: Expression,
      extent: Expression,
      up: Boolean,
      strict: Boolean,
      timeZone: String
  ): Expression = key.dataType match {
    case TimeUnit(Micro) =>
      Distance.fixedMicros(key, extent, timeZone) match {
        case Some(micros) => Reach(key, Literal(micros), up, strict)
        case None         => CalendarReach(key, extent, up, strict, Some(timeZone))
      }
    case _ => Reach(key, extent, up, strict)
  }
}
