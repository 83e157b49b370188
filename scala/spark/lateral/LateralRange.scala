package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.times.Distance

/** The range of a query's events, as a frame. */
private[lateral] sealed abstract class LateralRange

/** A range between two values of the label. */
private[lateral] case object OwnRange extends LateralRange

/**
 * A range between two distances from one value of the label, for times in whole units: days for
 * a DATE, else microseconds. Both ends belong to it.
 *
 * @param base the value of the label
 * @param lower none if the range has no beginning
 */
private[lateral] final case class OffsetRange(base: Expression, lower: Option[Long], upper: Long)
    extends LateralRange {

  def frame(time: DataType, zone: String): SpecifiedWindowFrame = {
    // both ends are of one type; a day of a DAY TO SECOND interval may have 23 hours in the zone
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
 * A range of a stream between two ends that never fall while a value of the label rises, such as
 * the beginning of its hour.
 */
private[lateral] final case class RisingRange(base: Attribute) extends LateralRange

private[lateral] object LateralRange {

  def of(query: CorrelatedAggregate, zone: String): LateralRange = {
    val lower = query.lower.map(b => Distance.of(b.value, zone))
    val offsets = query.time.dataType match {
      case TimeUnit(Day | Micro) =>
        for {
          bound <- query.upper
          upper <- Distance.of(bound.value, zone)
          if lower.forall(_.exists(_.base.semanticEquals(upper.base)))
          from = query.lower.flatMap(b =>
            lower.flatten.map(_.units + (if (b.isIncluded) 0 else 1))
          )
          until = upper.units - (if (bound.isIncluded) 0 else 1)
          if (from ++ Some(until)).forall(math.abs(_) <= Distance.Most)
          if from.forall(_ <= until) // SQL has no frame that ends before it begins
        } yield OffsetRange(upper.base, from, until)
      case _ => None
    }
    offsets.getOrElse(OwnRange)
  }

  /** The range that contains all ranges, if both ends lie at fixed distances from one value. */
  def span(ranges: Seq[LateralRange]): Option[OffsetRange] = {
    val fixed = ranges.collect { case r @ OffsetRange(_, Some(_), _) => r }
    Option.when(
      fixed.length == ranges.length && fixed.forall(_.base.semanticEquals(fixed.head.base))
    ) {
      OffsetRange(fixed.head.base, fixed.flatMap(_.lower).minOption, fixed.map(_.upper).max)
    }
  }

  /** The place among the events for the labels of all queries. */
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

  /** Whether a label's place among the events is the base of its range. */
  def isAt(position: Expression, query: CorrelatedAggregate, base: Expression): Boolean =
    query.ifApplies(base).semanticEquals(position)
}
