package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.types.DayTimeIntervalType.DAY

import io.sash.core.frames.RangeKeys
import io.sash.spark.SparkVersions
import io.sash.spark.slots.SlotProgram

/** The slot program of the order keys of range frames, and the shifts that give their bounds. */
private[spark] object RangeBounds {

  /** The keys, and for each frame the lower and the upper bound, as [[RangeKeys]] takes them. */
  def program(
      rows: RowsOfFrame,
      orderSpec: Seq[SortOrder],
      frames: Seq[SpecifiedWindowFrame]
  ): (SlotProgram, Seq[(Int, Int)]) = {
    val keys = orderSpec.map(o => AttributeReference("key", o.child.dataType, nullable = true)())
    val offsets = frames.flatMap(f => Seq(f.lower, f.upper)).distinct.filter {
      case _: SpecialFrameBoundary => false
      case _                       => true
    }
    val order =
      orderSpec.zip(keys).map { case (o, key) => o.copy(child = key, sameOrderExpressions = Nil) }
    val program = SlotProgram
      .ofRow(rows.input, keys, orderSpec.map(_.child))
      .copy(
        keyShifts = offsets.map(shifted(keys.head, orderSpec.head.direction, _, rows.timeZone)),
        keyOrder = order
      )
    def bound(of: Expression): Int = of match {
      case CurrentRow              => RangeKeys.CurrentRow
      case _: SpecialFrameBoundary => RangeKeys.Unbounded
      case offset                  => offsets.indexOf(offset)
    }
    (program, frames.map(f => (bound(f.lower), bound(f.upper))))
  }

  /** Keys whose bound is the key moved by an extent, which has no end where the type has one. */
  def moved(
      rows: RowsOfFrame,
      by: SortOrder,
      extent: Expression,
      isLower: Boolean
  ): OwnKeys = {
    val key = AttributeReference("key", by.dataType, nullable = true)()
    val program = SlotProgram
      .ofRow(rows.input, Seq(key), Seq(by.child))
      .copy(
        keyShifts = Seq(within(key, by.direction, extent, rows.timeZone)),
        keyOrder = Seq(by.copy(child = key))
      )
    if (isLower) OwnKeys(program, lower = 0, upper = RangeKeys.CurrentRow)
    else OwnKeys(program, lower = RangeKeys.CurrentRow, upper = 0)
  }

  /** A BIGINT that would leave its type stays at the end of it. */
  def within(
      key: Expression,
      direction: SortDirection,
      extent: Expression,
      timeZone: String
  ): Expression =
    if (key.dataType == LongType) {
      val by = if (direction == Descending) new UnaryMinus(extent) else extent
      val (least, most, none) = (Literal(Long.MinValue), Literal(Long.MaxValue), Literal(0L))
      val under = And(LessThan(by, none), LessThan(key, new Subtract(least, by)))
      val over = And(GreaterThan(by, none), GreaterThan(key, new Subtract(most, by)))
      If(under, least, If(over, most, new Add(key, by)))
    } else {
      shifted(key, direction, extent, timeZone)
    }

  /** Of a frame that reaches back from each row's key by that row's own width. */
  def ownWidth(rows: RowsOfFrame, by: SortOrder, width: Expression): OwnKeys = {
    val key = AttributeReference("key", by.dataType, nullable = true)()
    val own = AttributeReference("width", width.dataType, nullable = true)()
    val isThere =
      if (width.dataType == LongType) GreaterThanOrEqual(own, Literal(0L)) else IsNotNull(own)
    val program = SlotProgram
      .ofRow(rows.input, Seq(key, own), Seq(by.child, width))
      .copy(
        keyShifts = Seq(within(key, by.direction, new UnaryMinus(own), rows.timeZone)),
        keyOrder = Seq(by.copy(child = key)),
        holds = Some(isThere)
      )
    OwnKeys(program, lower = 0, upper = RangeKeys.CurrentRow)
  }

  /** key + offset as WindowExec computes it; a descending order turns the offset's sign. */
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
