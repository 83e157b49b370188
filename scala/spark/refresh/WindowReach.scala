package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY

import io.sash.spark.base.ArgumentChecks.isInteger
import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.kinds._
import io.sash.spark.times.{ConstantInterval, Distance, Reach}

/**
 * How far from a row the rows of its window may lie. The unit is a day for DATE, a microsecond
 * for timestamps, and 1 for integers. The row itself is always within reach.
 *
 * @param back towards lesser values of the order, 0 or more; none if there is no limit
 * @param ahead towards greater values of the order, likewise
 */
private[refresh] final case class WindowReach(back: Option[Long], ahead: Option[Long]) {

  /** The reach of windows that read the answers of other windows. */
  def +(below: WindowReach): WindowReach = joined(below)(WindowReach.sum)

  def max(other: WindowReach): WindowReach = joined(other)((a, b) => Some(math.max(a, b)))

  def reversed: WindowReach = WindowReach(ahead, back)

  /** How many ends have no limit. */
  def openEnds: Int = Seq(back, ahead).count(_.isEmpty)

  private def joined(
      other: WindowReach
  )(join: (Long, Long) => Option[Long]): WindowReach = {
    def end(a: Option[Long], b: Option[Long]) = a.flatMap(x => b.flatMap(join(x, _)))
    WindowReach(end(back, other.back), end(ahead, other.ahead))
  }
}

private[refresh] object WindowReach {

  /** The reach of a row that is answered by itself. */
  val Own: WindowReach = WindowReach(Some(0L), Some(0L))

  /** The reach of windows that may hold any row of the key. */
  val Endless: WindowReach = WindowReach(None, None)

  /** The reach of windows that end at the row or its peers, and may begin at any row before. */
  private val Suffix = WindowReach(None, Some(0L))

  private def sum(a: Long, b: Long): Option[Long] =
    Option.when(a <= Long.MaxValue - b)(a + b)

  /**
   * The reach of a window, in values of its first ORDER BY column.
   *
   * @param zone the time zone in which days and months are added
   */
  def of(window: WindowExpression, zone: String): WindowReach = {
    val order = window.windowSpec.orderSpec
    order.headOption.fold(Endless) { first =>
      val inOrder = new OfOrder(order, zone).of(window)
      if (first.direction == Descending) inOrder.reversed else inOrder
    }
  }

  /** Whether the frame of a row may end where the frame of a row before it ends. */
  def isOvertaken(spec: WindowSpecDefinition, zone: String): Boolean =
    spec.frameSpecification match {
      case SpecifiedWindowFrame(RangeFrame, lower, upper) if spec.orderSpec.nonEmpty =>
        new OfOrder(spec.orderSpec, zone).overtaken(Seq(lower, upper)) > 0
      case _ => false
    }

  /** Reaches in the direction of an order. */
  private final class OfOrder(order: Seq[SortOrder], zone: String) {
    private val time = order.head.child

    def of(window: WindowExpression): WindowReach = {
      val sliding = window.windowFunction.collectFirst { case s: SlidingAggregate => s }
      val isOfSize = window.windowFunction.exists(_.isInstanceOf[SizeBasedWindowFunction])
      sliding match {
        case _ if isOfSize => Endless
        // an added or removed row changes at which rows the window slides
        case Some(s) if s.slide.nonEmpty => Endless
        case Some(s) if s.kind.nonEmpty  => ofKind(s.kind.get)
        case _                           => ofFrame(window.windowSpec.frameSpecification)
      }
    }

    private def ofKind(kind: WindowKind): WindowReach = kind match {
      case k: HasSqlFrame    => ofFrame(k.sqlFrame(order))
      case s: SawtoothWindow => WindowReach(extent(s.size), Some(0L)) + back(extent(s.hop))
      case g: GroupsWindow =>
        val ahead = Option.when(g.following.eval().asInstanceOf[Number].longValue == 0)(0L)
        WindowReach(None, ahead)
      case j: JoinedWindow => j.kinds.map(ofKind).reduce(_ max _)
      // without an upper end, a row whose time is NULL may hold all others
      case b: BoundsWindow if b.copy(upper = b.upper.orElse(b.lower)).isAtDistances(order) =>
        WindowReach(end(b.lower, up = false), end(b.upper, up = true))
      case _: DeltaWindow | _: PunctuationWindow | _: GapWindow | _: PredicateWindow |
          _: OwnRowsWindow | _: OwnRangeWindow =>
        Suffix
      case _ => Endless
    }

    private def back(extent: Option[Long]) = WindowReach(extent, Some(0L))

    /** The greatest distance that an extent of 0 or more covers. */
    private def extent(e: Expression): Option[Long] = moves(e).map(_._2)

    private def end(bound: Option[OwnBound], up: Boolean): Option[Long] =
      bound.map(_.value).flatMap {
        case Reach(_, Literal(n: Number, _), isUp, _) =>
          Some(if (isUp == up) n.longValue else 0L)
        case _ => Some(0L)
      }

    private def ofFrame(frame: WindowFrame): WindowReach = frame match {
      case SpecifiedWindowFrame(RowFrame, lower, upper) =>
        WindowReach(ofRows(lower, -1), ofRows(upper, 1))
      case SpecifiedWindowFrame(RangeFrame, lower, upper) =>
        val reach = WindowReach(ofRange(lower, -1), ofRange(upper, 1))
        reach max back(Some(overtaken(Seq(lower, upper))))
      case _ => Endless
    }

    /** @param side -1 for a lower end, 1 for an upper one */
    private def ofRows(bound: Expression, side: Int): Option[Long] = bound match {
      case CurrentRow              => Some(0L)
      case _: SpecialFrameBoundary => None
      case rows if rows.foldable =>
        Option(rows.eval()).collect { case n: Number if n.longValue * side <= 0 => 0L }
      case _ => None
    }

    private def ofRange(bound: Expression, side: Int): Option[Long] = bound match {
      case CurrentRow              => Some(0L)
      case _: SpecialFrameBoundary => None
      case distance =>
        moves(distance).map { case (least, most) => math.max(0L, if (side < 0) -least else most) }
    }

    /**
     * How far before a row another row may lie whose frame has a later end. The ends of a frame
     * never move back from row to row, so the row's frame has that end, too. A month from January
     * 28 ends on the same day as a month from January 31, perhaps at a later hour. Where clocks
     * change, so may days: the change is less than the slack.
     */
    def overtaken(ends: Seq[Expression]): Long = time.dataType match {
      case TimeUnit(Micro) =>
        val calendar = ends.filter(Distance.fixedMicros(time, _, zone).isEmpty)
        val slacks = calendar.flatMap(ConstantInterval.of).map { i =>
          TwoDays + (if (i.months == 0) 0L else 3 * MICROS_PER_DAY)
        }
        slacks.maxOption.getOrElse(0L)
      case _ => 0L // dates move to dates in their order
    }

    /** The least and the greatest amount by which a distance moves a time; none if unknown. */
    private def moves(distance: Expression): Option[(Long, Long)] =
      if (!distance.foldable) None
      else
        (time.dataType, distance.dataType) match {
          case (of, by) if (isInteger(of) || Day.isUnitOf(of)) && isInteger(by) =>
            Option(distance.eval()).collect { case n: Number => (n.longValue, n.longValue) }
          case (TimeUnit(Day), _) =>
            ConstantInterval.of(distance).map(i => calendar(i.months, i.days, 0L, 1L, slack = 0L))
          case (TimeUnit(Micro), _) =>
            Distance.fixedMicros(time, distance, zone).map(m => (m, m)).orElse {
              ConstantInterval.of(distance).map { i =>
                calendar(i.months, i.days, i.microseconds, MICROS_PER_DAY, TwoDays)
              }
            }
          case _ => None
        }

    /**
     * The bounds of a distance in months and days. A month has 31 days at most. Where clocks
     * change, a day or a month is longer or shorter by less than the slack.
     */
    private def calendar(
        months: Int,
        days: Int,
        units: Long,
        ofDay: Long,
        slack: Long
    ): (Long, Long) = {
      val parts = Seq(months * 31L * ofDay, days * ofDay, units)
      (parts.filter(_ < 0).sum - slack, parts.filter(_ > 0).sum + slack)
    }
  }

  /** In microseconds. Two clock settings of a zone, past or present, always differ by less. */
  private val TwoDays = 2 * MICROS_PER_DAY
}
