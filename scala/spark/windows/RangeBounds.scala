package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.types.DayTimeIntervalType.DAY

import io.sash.core.frames.RangeKeys
import io.sash.spark.SparkVersions
import io.sash.spark.slots.SlotProgram

/** The slot program of the order keys of a range frame, and the shifts that give its bounds. */
private[spark] object RangeBounds {

  def program(
      input: Seq[Attribute],
      orderSpec: Seq[SortOrder],
      frame: SpecifiedWindowFrame,
      timeZone: String
  ): KeysProgram = {
    val keys = orderSpec.map(o => AttributeReference("key", o.child.dataType, nullable = true)())
    val shifts = Seq(frame.lower, frame.upper).map {
      case _: SpecialFrameBoundary => None
      case offset => Some(shifted(keys.head, orderSpec.head.direction, offset, timeZone))
    }
    val indexes = shifts.scanLeft(0)((n, s) => n + s.size)
    val order =
      orderSpec.zip(keys).map { case (o, key) => o.copy(child = key, sameOrderExpressions = Nil) }
    val program = SlotProgram(
      input,
      keys,
      keys.map(_.newInstance()),
      Seq(SlotProgram.Part(first = 0, identity = Nil, lift = orderSpec.map(_.child))),
      keyShifts = shifts.flatten,
      keyOrder = order
    )
    KeysProgram(program, bound(frame.lower, indexes(0)), bound(frame.upper, indexes(1)))
  }

  /** Of a frame that reaches back from each row's key by that row's own width. */
  def ownWidth(
      input: Seq[Attribute],
      by: SortOrder,
      width: Expression,
      timeZone: String
  ): KeysProgram = {
    val key = AttributeReference("key", by.dataType, nullable = true)()
    val own = AttributeReference("width", width.dataType, nullable = true)()
    val program = SlotProgram(
      input,
      Seq(key, own),
      Seq(key.newInstance(), own.newInstance()),
      Seq(SlotProgram.Part(first = 0, identity = Nil, lift = Seq(by.child, width))),
      keyShifts = Seq(shifted(key, by.direction, new UnaryMinus(own), timeZone)),
      keyOrder = Seq(by.copy(child = key)),
      holds = Some(IsNotNull(own))
    )
    KeysProgram(program, lower = 0, upper = RangeKeys.CurrentRow)
  }

  private def bound(of: Expression, shift: Int): Int = of match {
    case CurrentRow              => RangeKeys.CurrentRow
    case _: SpecialFrameBoundary => RangeKeys.Unbounded
    case _                       => shift
  }

  /** key + offset as WindowExec computes it; a descending order turns the offset's sign. */
  private def shifted(
      key: Expression,
      direction: SortDirection,
      offset: Expression,
      timeZone: String
  ): Expression = {
    val signed = direction match {
      case Descending => new UnaryMinus(offset)
      case Ascending  => offset
    }
    (key.dataType, signed.dataType) match {
      case (DateType, IntegerType)              => DateAdd(key, signed)
      case (DateType, _: YearMonthIntervalType) => DateAddYMInterval(key, signed)
      case (DateType, DayTimeIntervalType(DAY, DAY)) =>
        DateAdd(key, ExtractANSIIntervalDays(signed))
      case (TimestampType | TimestampNTZType, _: YearMonthIntervalType) =>
        TimestampAddYMInterval(key, signed, Some(timeZone))
      case (TimestampType | TimestampNTZType, _) =>
        TimestampPlusMicros
          .fixedMicros(key, signed, timeZone)
          .fold(SparkVersions.timestampAddInterval(key, signed, timeZone))(
            TimestampPlusMicros(key, _)
          )
      case (d: DecimalType, _: DecimalType) => DecimalAddNoOverflowCheck(key, signed, d)
      case _                                => new Add(key, signed)
    }
  }
}
