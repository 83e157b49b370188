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

/** Makes slot programs of keys, with the expressions (''shifts'') that compute frames' bounds. */
private[spark] object RangeBounds {

  /**
   * The keys of the window's order, with the lower and the upper bound of each frame: see
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
   * Keys with a lower bound: the farthest key that lies at most `extent` before the row's key.
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
   * The keys of a session. The upper bound is the farthest key that lies less than `gap` after
   * the row's key. The lower bound is the farthest key that lies less than `longest` before it.
   * Both bounds are inclusive, since the type may have no key beyond them.
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

  /** Keys with bounds that are values of each row. If one is NULL, the row's window is empty. */
  def between(rows: RowsOfFrame, by: SortOrder, kind: BoundsWindow): OwnKeys = {
    val bounds = (kind.lower ++ kind.upper).map(_.value).toSeq
    val program = keys(rows, by, bounds, _.map(IsNotNull(_): Expression).reduceOption(And)) {
      (_, own) => own
    }
    def bound(of: Option[OwnBound], shift: Int): KeyBound =
      of.fold[KeyBound](KeyBound.Unbounded)(b => KeyBound.Shifted(shift, isOpen = !b.isIncluded))
    OwnKeys(program, bound(kind.lower, 0), bound(kind.upper, bounds.length - 1))
  }

  /**
   * Keys with bounds at fixed distances from the row's key: see [[BoundsWindow.isAtDistances]].
   */
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
   * Keys with a lower bound that is cut to a multiple of the hop. An open end is moved by one
   * unit, as without a hop. So the window of a row whose key is NULL has the row's peers.
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

  /** The distance between two neighbouring values of a type: a microsecond, a day, or 1. */
  private def unitOf(order: DataType): Expression = order match {
    case TimeUnit(Micro) => Literal(1L, DayTimeIntervalType())
    case TimeUnit(Day)   => Literal(1)
    case n: NumericType  => Cast(Literal(1), n)
    case other => throw new IllegalStateException(s"an order of type ${other.sql} has no units")
  }

  /** The key that lies `size` before a row's key, cut to a multiple of `hop`. */
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

  /**
   * The program of keys in a ring of their own.
   *
   * @param values further values of each row
   * @param holds a condition over these values; a row has an empty window if it is not true
   * @param bounds makes the bounds from the row's key and these values
   */
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

  /**
   * The farthest key at most `extent` from a key.
   *
   * @param before whether it lies before the key in the order
   * @param strict whether it lies less than `extent` from the key
   */
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
