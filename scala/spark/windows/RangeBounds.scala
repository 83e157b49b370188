package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._

import io.sash.core.frames.KeyBound
import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.kinds.{BoundsWindow, OwnBound, SawtoothWindow}
import io.sash.spark.slots.SlotProgram
import io.sash.spark.times.{ConstantInterval, CutToHop, IsForward, KeyDistance}

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
        keyShifts =
          offsets.map(KeyDistance.shifted(keys.head, orderSpec.head.direction, _, rows.timeZone)),
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
  def back(rows: RowsOfFrame, by: SortOrder, extent: Expression): OwnKeys =
    OwnKeys(
      keys(rows, by)((key, _) => Seq(reach(rows, by, key, extent))),
      KeyBound.Shifted(0),
      KeyBound.CurrentRow
    )

  /** Keys with a lower bound that is each row's own width before the row's key. */
  def ownWidth(rows: RowsOfFrame, by: SortOrder, width: Expression): OwnKeys = {
    val program = keys(rows, by, Seq(width), own => Some(isWidth(own.head))) { (key, own) =>
      Seq(reach(rows, by, key, own.head))
    }
    OwnKeys(program, KeyBound.Shifted(0), KeyBound.CurrentRow)
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
    val program = keys(rows, by) { (key, _) =>
      reach(rows, by, key, gap, before = false, strict = true) +:
        longest.toSeq.map(reach(rows, by, key, _, strict = true))
    }
    val lower = if (longest.isEmpty) KeyBound.CurrentRow else KeyBound.Shifted(1)
    OwnKeys(program, lower, upper = KeyBound.Shifted(0))
  }

  /** Keys with the bounds that each row says. Without one of them its row has no window. */
  def between(rows: RowsOfFrame, by: SortOrder, kind: BoundsWindow): OwnKeys = {
    val bounds = (kind.lower ++ kind.upper).map(_.value).toSeq
    val program = keys(rows, by, bounds, _.map(IsNotNull(_): Expression).reduceOption(And)) {
      (_, own) => own
    }
    def bound(of: Option[OwnBound], shift: Int): KeyBound =
      of.fold[KeyBound](KeyBound.Unbounded)(b => KeyBound.Shifted(shift, isOpen = !b.isIncluded))
    OwnKeys(program, bound(kind.lower, 0), bound(kind.upper, bounds.length - 1))
  }

  /** Keys with bounds at fixed distances from a row's key: see [[BoundsWindow.isAtDistances]]. */
  def atDistances(rows: RowsOfFrame, by: SortOrder, kind: BoundsWindow): OwnKeys = {
    def isPeers(b: OwnBound) = b.isIncluded && b.value.semanticEquals(by.child)
    val moved = (kind.lower ++ kind.upper).filterNot(isPeers).toSeq
    def bound(of: Option[OwnBound]): KeyBound = of match {
      case None                  => KeyBound.Unbounded
      case Some(b) if isPeers(b) => KeyBound.CurrentRow
      case Some(b)               => KeyBound.Shifted(moved.indexOf(b), isOpen = !b.isIncluded)
    }
    val program = keys(rows, by) { (key, _) =>
      moved.map(_.value.transform { case e if e.semanticEquals(by.child) => key })
    }
    OwnKeys(program, bound(kind.lower), bound(kind.upper))
  }

  /**
   * Keys with a lower bound that is cut to a hop. An end that does not belong to the window is
   * moved by a unit, as without a hop. So rows whose key is NULL have their peers.
   */
  def sawtooth(rows: RowsOfFrame, kind: SawtoothWindow): OwnKeys = {
    val order = rows.order.head
    val (of, size) = Extent.ofNumbers(order.child, kind.size)
    val by = order.copy(child = of, sameOrderExpressions = Nil)
    def moved(key: Expression, by: Expression) =
      KeyDistance.shifted(key, order.direction, by, rows.timeZone)
    OwnKeys(
      keys(rows, by) { (key, _) =>
        val unit = unitOf(key.dataType)
        val begin = sawtoothBegin(key, order.direction, size, kind.hop, rows.timeZone)
        Seq(
          if (kind.hasOpenStart) moved(begin, unit) else begin,
          if (kind.hasOpenEnd) moved(key, new UnaryMinus(unit)) else key
        )
      },
      KeyBound.Shifted(0),
      if (kind.hasOpenEnd) KeyBound.Shifted(1) else KeyBound.CurrentRow
    )
  }

  /** The distance between two neighbouring places in an order: a microsecond, a day, or 1. */
  private def unitOf(order: DataType): Expression = order match {
    case TimeUnit(Micro) => Literal(1L, DayTimeIntervalType())
    case TimeUnit(Day)   => Literal(1)
    case n: NumericType  => Cast(Literal(1), n)
    case other => throw new IllegalStateException(s"an order of type ${other.sql} has no units")
  }

  /** The key at `size` before a row's key, cut to a multiple of `hop`. */
  def sawtoothBegin(
      key: Expression,
      direction: SortDirection,
      size: Expression,
      hop: Expression,
      timeZone: String
  ): CutToHop = {
    val back = KeyDistance.shifted(key, direction, new UnaryMinus(size), timeZone)
    val number = hop.dataType match {
      case _: NumericType => hop.eval().asInstanceOf[Number].longValue
      case _              => ConstantInterval.micros(ConstantInterval.of(hop).get)
    }
    val isInDays = Day.isUnitOf(key.dataType) &&
      !hop.dataType.isInstanceOf[NumericType]
    val units = if (isInDays) number / MICROS_PER_DAY else number
    CutToHop(back, units, isUp = direction == Descending)
  }

  /** The row's key and further values of its own, with the bounds that are made of them. */
  private def keys(
      rows: RowsOfFrame,
      by: SortOrder,
      values: Seq[Expression] = Nil,
      holds: Seq[Expression] => Option[Expression] = _ => None
  )(bounds: (Expression, Seq[Expression]) => Seq[Expression]): SlotProgram = {
    val all = by.child +: values
    val key +: own = all.map(e => AttributeReference("key", e.dataType, nullable = true)())
    SlotProgram
      .ofRow(rows.input, key +: own, all)
      .copy(
        keyShifts = bounds(key, own),
        keyOrder = Seq(by.copy(child = key, sameOrderExpressions = Nil)),
        holds = holds(own)
      )
  }

  /** The bound of a key, before or after it in the order. */
  private def reach(
      rows: RowsOfFrame,
      by: SortOrder,
      key: Expression,
      extent: Expression,
      before: Boolean = true,
      strict: Boolean = false
  ): Expression = {
    val up = before == (by.direction == Descending)
    KeyDistance.reach(key, extent, up, strict, rows.timeZone)
  }

  /** Whether a row has a window: its width is not NULL, NaN or negative. */
  def isWidth(own: Expression): Expression = own.dataType match {
    case CalendarIntervalType => IsForward(own)
    case dataType =>
      val isPositive = GreaterThanOrEqual(own, Literal.default(dataType))
      if (dataType == DoubleType) And(Not(IsNaN(own)), isPositive) else isPositive
  }
}
