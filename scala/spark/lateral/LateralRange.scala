package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.kinds.{BoundsWindow, OwnBound}
import io.sash.spark.times.{Distance, Reach}

/** The form in which a window has the range of a query's events. */
private[lateral] sealed abstract class LateralRange

/** A range between two arbitrary values of the label. */
private[lateral] case object OwnRange extends LateralRange

/**
 * A range between two fixed distances from one value of the label. A distance is in days for a
 * DATE, in microseconds for a timestamp, and a difference for INTs or BIGINTs.
 *
 * @param base the value of the label
 * @param lower the distance of the first time in the range; none if the range has no beginning
 * @param upper the distance of the last time in the range
 */
private[lateral] final case class OffsetRange(base: Expression, lower: Option[Long], upper: Long)
    extends LateralRange {

  /** Whether the times are numbers, such as seconds since 1970. */
  def isOfNumbers: Boolean = LateralRange.isWhole(base.dataType)

  /**
   * The frame of a range of numbers. Its bounds saturate instead of overflowing, since they are
   * computed for events, too, to which the query itself adds nothing. A bound that saturates
   * still is no nearer to the key than the query's own bound.
   *
   * @param key the column by which labels and events are ordered
   */
  def window(key: Expression): BoundsWindow =
    BoundsWindow(lower.map(bound(key, _, inwards = 1)), Some(bound(key, upper, inwards = -1)))

  private def bound(key: Expression, units: Long, inwards: Int): OwnBound = {
    val isIncluded = units.sign != inwards
    val distance = if (isIncluded) units else units - inwards
    val extent = math.abs(distance)
    val literal =
      if (key.dataType == IntegerType) Literal(Math.toIntExact(extent)) else Literal(extent)
    val value =
      if (distance == 0) key else Reach(key, literal, up = distance > 0, strict = false)
    OwnBound(value, isIncluded)
  }

  def frame(time: DataType, zone: String): SpecifiedWindowFrame = {
    // both ends have one type; in this zone a day of a DAY TO SECOND interval may have 23 hours
    def isFixed(units: Long) =
      Distance.fixedMicros(Literal(0L, time), interval(units), zone).contains(units)
    val fixed = isInDays(time) || (lower ++ Some(upper)).forall(isFixed)
    def bound(units: Long): Expression =
      if (units == 0) CurrentRow
      else if (isInDays(time)) Literal(units.toInt)
      else if (fixed) interval(units)
      else Literal(new CalendarInterval(0, 0, units), CalendarIntervalType)
    SpecifiedWindowFrame(
      RangeFrame,
      lower.fold[Expression](UnboundedPreceding)(bound),
      bound(upper)
    )
  }

  private def isInDays(time: DataType): Boolean = Day.isUnitOf(time)

  private def interval(units: Long): Literal = Literal(units, DayTimeIntervalType())
}

/**
 * A range on a stream. Its ends never fall while the label's value `base` rises, such as the
 * beginning of the hour of `base`.
 */
private[lateral] final case class RisingRange(base: Attribute) extends LateralRange

private[lateral] object LateralRange {

  def of(query: CorrelatedAggregate, zone: String): LateralRange = {
    val range = query.time.dataType match {
      case TimeUnit(Day | Micro) => between(query, Distance.of(_, zone), Distance.Most)
      case IntegerType           => ofNumbers(query, Int.MaxValue.toLong)
      case LongType              => ofNumbers(query, Distance.Most)
      case _                     => None
    }
    range.getOrElse(OwnRange)
  }

  /** @param most the greatest distance that is added to a time */
  private def between(
      query: CorrelatedAggregate,
      distance: Expression => Option[Distance],
      most: Long
  ): Option[OffsetRange] = {
    val lower = query.lower.map(b => distance(b.value))
    for {
      bound <- query.upper
      upper <- distance(bound.value)
      if lower.forall(_.exists(_.base.semanticEquals(upper.base)))
      from = query.lower.flatMap(b => lower.flatten.map(_.units + (if (b.isIncluded) 0 else 1)))
      until = upper.units - (if (bound.isIncluded) 0 else 1)
      if (from ++ Some(until)).forall(math.abs(_) <= most)
      if from.forall(_ <= until) // SQL has no frame that ends before it begins
    } yield OffsetRange(upper.base, from, until)
  }

  /**
   * A range of numbers. In ANSI mode an end that overflows is an error. Otherwise it wraps
   * around, and the range is empty if the other end does not wrap. So then at least one end has
   * to be the label's number itself.
   */
  private def ofNumbers(query: CorrelatedAggregate, most: Long): Option[OffsetRange] =
    between(query, Distance.ofNumber(_), most).filter { _ =>
      val moved = ends(query).count(isMoved)
      moved == 0 || query.lower.nonEmpty && (moved == 1 || ends(query).forall(
        Distance.failsBeyond
      ))
    }

  private def ends(query: CorrelatedAggregate): Seq[Expression] =
    (query.lower ++ query.upper).map(_.value).toSeq

  private def isMoved(end: Expression): Boolean = Distance.ofNumber(end).exists(_.base != end)

  def isWhole(time: DataType): Boolean = time == IntegerType || time == LongType

  /**
   * The condition that neither end of a label's range has overflowed; none if none can. In ANSI
   * mode it fails, as the addition does.
   */
  def noOverflow(query: CorrelatedAggregate, range: LateralRange): Option[Expression] =
    range match {
      case o: OffsetRange if o.isOfNumbers && ends(query).exists(isMoved) =>
        val Seq(lower, upper) = ends(query)
        Some(LessThanOrEqual(lower, upper))
      case _ => None
    }

  /** The value by which labels are ordered among the events, one for all queries. */
  def position(queries: Seq[CorrelatedAggregate], ranges: Seq[LateralRange]): Expression =
    queries
      .zip(ranges)
      .collectFirst {
        case (query, OffsetRange(base, _, _)) => query.ifApplies(base)
        case (query, RisingRange(base))       => query.ifApplies(base)
      }
      .getOrElse {
        val query = queries.head
        query.ifApplies((query.upper ++ query.lower).head.value)
      }

  /** Whether labels are ordered among the events by the base of this query's range. */
  def isAt(position: Expression, query: CorrelatedAggregate, base: Expression): Boolean =
    query.ifApplies(base).semanticEquals(position)
}
