package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.types.DayTimeIntervalType.DAY

import io.sash.core.frames.KeyBound
import io.sash.spark.base.SparkVersions
import io.sash.spark.kinds.{BoundsWindow, OwnBound}
import io.sash.spark.slots.SlotProgram

/** Makes slot programs of order keys, with the shifts that compute the bounds of frames. */
private[spark] object RangeBounds {

  /**
   * The keys of the window's order, and the lower and upper bound of each frame, as in
   * [[RangeKeys]].
   */
  def program(
      rows: RowsOfFrame,
      orderSpec: Seq[SortOrder],
      frames: Seq[SpecifiedWindowFrame]
  ): (SlotProgram, Seq[(KeyBound, KeyBound)]) = {
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
    def bound(of: Expression): KeyBound = of match {
      case CurrentRow              => KeyBound.CurrentRow
      case _: SpecialFrameBoundary => KeyBound.Unbounded
      case offset                  => KeyBound.Shifted(offsets.indexOf(offset))
    }
    (program, frames.map(f => (bound(f.lower), bound(f.upper))))
  }

  /**
   * Keys with a lower bound: the farthest key before the row's key that is at most `extent` from
   * it.
   */
  def back(rows: RowsOfFrame, by: SortOrder, extent: Expression): OwnKeys = {
    val key = AttributeReference("key", by.dataType, nullable = true)()
    val bound = reach(key, extent, isUp(by, before = true), strict = false, rows.timeZone)
    OwnKeys(ofKey(rows, by, key, bound), KeyBound.Shifted(0), KeyBound.CurrentRow)
  }

  /**
   * The keys of a session. The upper bound is the farthest key after the row's key that is less
   * than `gap` from it. The lower bound is the farthest key before the row's key that is less
   * than `longest` from it. A first key outside a bound may not exist in the type.
   */
  def session(
      rows: RowsOfFrame,
      by: SortOrder,
      gap: Expression,
      longest: Option[Expression]
  ): OwnKeys = {
    val key = AttributeReference("key", by.dataType, nullable = true)()
    def bound(extent: Expression, before: Boolean) =
      reach(key, extent, isUp(by, before), strict = true, rows.timeZone)
    val bounds = bound(gap, before = false) +: longest.toSeq.map(bound(_, before = true))
    OwnKeys(
      ofKey(rows, by, key, bounds: _*),
      lower = if (longest.isEmpty) KeyBound.CurrentRow else KeyBound.Shifted(1),
      upper = KeyBound.Shifted(0)
    )
  }

  private def ofKey(
      rows: RowsOfFrame,
      by: SortOrder,
      key: AttributeReference,
      bounds: Expression*
  ): SlotProgram = SlotProgram
    .ofRow(rows.input, Seq(key), Seq(by.child))
    .copy(keyShifts = bounds, keyOrder = Seq(by.copy(child = key)))

  /** Whether keys before (or after) a key in the order are greater than it. */
  private def isUp(by: SortOrder, before: Boolean): Boolean =
    before == (by.direction == Descending)

  /**
   * The bound of a key by an extent: a [[Reach]], or a `CalendarReach` if it depends on the
   * calendar.
   */
  def reach(
      key: Expression,
      extent: Expression,
      up: Boolean,
      strict: Boolean,
      timeZone: String
  ): Expression = key.dataType match {
    case TimestampType | TimestampNTZType =>
      TimestampPlusMicros
        .fixedMicros(key, extent, timeZone)
        .fold[Expression](CalendarReach(key, extent, up, strict, Some(timeZone))) { micros =>
          Reach(key, Literal(micros), up, strict)
        }
    case _ => Reach(key, extent, up, strict)
  }

  /** Keys with a lower bound that is each row's own width before the row's key. */
  def ownWidth(rows: RowsOfFrame, by: SortOrder, width: Expression): OwnKeys = {
    val key = AttributeReference("key", by.dataType, nullable = true)()
    val own = AttributeReference("width", width.dataType, nullable = true)()
    val bound = reach(key, own, isUp(by, before = true), strict = false, rows.timeZone)
    val program = SlotProgram
      .ofRow(rows.input, Seq(key, own), Seq(by.child, width))
      .copy(
        keyShifts = Seq(bound),
        keyOrder = Seq(by.copy(child = key)),
        holds = Some(isWidth(own))
      )
    OwnKeys(program, KeyBound.Shifted(0), KeyBound.CurrentRow)
  }

  /** Keys with the bounds that each row says. Without one of them its row has no window. */
  def between(rows: RowsOfFrame, by: SortOrder, kind: BoundsWindow): OwnKeys = {
    val bounds = (kind.lower ++ kind.upper).map(_.value).toSeq
    val key +: own = (by.child +: bounds).map { e =>
      AttributeReference("key", e.dataType, nullable = true)()
    }
    val program = SlotProgram
      .ofRow(rows.input, key +: own, by.child +: bounds)
      .copy(
        keyShifts = own,
        keyOrder = Seq(by.copy(child = key, sameOrderExpressions = Nil)),
        holds = Some(own.map(IsNotNull(_): Expression).reduce(And))
      )
    def bound(of: Option[OwnBound], shift: Int): KeyBound =
      of.fold[KeyBound](KeyBound.Unbounded)(b => KeyBound.Shifted(shift, isOpen = !b.isIncluded))
    OwnKeys(program, bound(kind.lower, 0), bound(kind.upper, own.length - 1))
  }

  /** Whether a row has a window: its width is not NULL, NaN or negative. */
  private def isWidth(own: Expression): Expression = own.dataType match {
    case CalendarIntervalType => IsForward(own)
    case dataType =>
      val isPositive = GreaterThanOrEqual(own, Literal.default(dataType))
      if (dataType == DoubleType) And(Not(IsNaN(own)), isPositive) else isPositive
  }

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
