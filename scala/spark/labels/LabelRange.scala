package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.sash.spark.windows.TimestampPlusMicros

/** The range of a query's events, as a frame. */
private[labels] sealed abstract class LabelRange

/** A range between two values of the label. */
private[labels] case object OwnRange extends LabelRange

/**
 * A range between two distances from one value of the label, for times in whole units: days for
 * a DATE, else microseconds. Both ends belong to it.
 *
 * @param base the value of the label
 * @param lower none if the range has no beginning
 */
private[labels] final case class OffsetRange(base: Expression, lower: Option[Long], upper: Long)
    extends LabelRange {

  def frame(time: DataType, zone: String): SpecifiedWindowFrame = {
    // both ends are of one type; a day of a DAY TO SECOND interval may have 23 hours in the zone
    def isFixed(units: Long) =
      TimestampPlusMicros.fixedMicros(Literal(0L, time), interval(units), zone).contains(units)
    val fixed = time == DateType || (lower ++ Some(upper)).forall(isFixed)
    def bound(units: Long): Expression =
      if (units == 0) CurrentRow
      else if (time == DateType) Literal(units.toInt)
      else if (fixed) interval(units)
      else Literal(new CalendarInterval(0, 0, units), CalendarIntervalType)
    SpecifiedWindowFrame(
      RangeFrame,
      lower.fold[Expression](UnboundedPreceding)(bound),
      bound(upper)
    )
  }

  private def interval(units: Long): Literal = Literal(units, DayTimeIntervalType())
}

private[labels] object LabelRange {

  def of(query: CorrelatedAggregate, zone: String): LabelRange = {
    val lower = query.lower.map(b => Distance.of(b.value, zone))
    val found = query.time.dataType match {
      case DateType | TimestampType | TimestampNTZType =>
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
    found.getOrElse(OwnRange)
  }

  /** The range that contains all ranges, if both ends lie at fixed distances from one value. */
  def span(ranges: Seq[LabelRange]): Option[OffsetRange] = {
    val fixed = ranges.collect { case r @ OffsetRange(_, Some(_), _) => r }
    Option.when(
      fixed.length == ranges.length && fixed.forall(_.base.semanticEquals(fixed.head.base))
    ) {
      OffsetRange(fixed.head.base, fixed.flatMap(_.lower).minOption, fixed.map(_.upper).max)
    }
  }

  /** The place among the events for the labels of all queries. */
  def position(queries: Seq[CorrelatedAggregate], ranges: Seq[LabelRange]): Expression =
    queries
      .zip(ranges)
      .collectFirst { case (query, OffsetRange(base, _, _)) => query.ifApplies(base) }
      .getOrElse {
        val query = queries.head
        query.ifApplies((query.upper ++ query.lower).head.value)
      }

  /** Whether a label's place among the events is the base of its range. */
  def isAt(position: Expression, query: CorrelatedAggregate, range: OffsetRange): Boolean =
    query.ifApplies(range.base).semanticEquals(position)
}

/** A value and a fixed distance from it, in days for a DATE, else in microseconds. */
private[labels] final case class Distance(base: Expression, units: Long)

private[labels] object Distance {

  /** Ten thousand years in days: no valid date overflows by it, and no sum of two does. */
  val MostDays: Long = 3660000L

  /** A hundred thousand years in microseconds, likewise. */
  val Most: Long = 100000L * 366 * 24 * 3600 * 1000000

  def of(e: Expression, zone: String): Option[Distance] = e match {
    case Cast(child, to, _, _) if child.dataType == to => of(child, zone)
    case r: RuntimeReplaceable                         => of(r.replacement, zone)
    case TimestampPlusMicros(start, micros) =>
      of(start, zone)
        .filter(from => math.abs(micros) <= Most && math.abs(from.units) <= Most)
        .map(from => from.copy(units = from.units + micros))
    case DateAdd(start, days) => plus(start, days, 1, zone)
    case DateSub(start, days) => plus(start, days, -1, zone)
    case b: BinaryExpression if Additions(b.getClass.getSimpleName) =>
      for {
        from <- of(b.left, zone)
        micros <- TimestampPlusMicros.fixedMicros(b.left, b.right, zoneOf(b, zone))
        if math.abs(micros) <= Most && math.abs(from.units) <= Most
      } yield Distance(from.base, from.units + micros)
    case _ => Some(Distance(e, 0L))
  }

  /** The value at a distance from another one. */
  def from(base: Expression, units: Long): Expression = base.dataType match {
    case _ if units == 0       => base
    case DateType if units < 0 => DateSub(base, Literal(Math.toIntExact(-units)))
    case DateType              => DateAdd(base, Literal(Math.toIntExact(units)))
    case _                     => TimestampPlusMicros(base, units)
  }

  /** The value that a sum begins with. */
  def base(e: Expression, zone: String): Expression = of(e, zone).fold(e)(_.base)

  /** The time zone in which the query was analyzed. */
  private def zoneOf(e: Expression, session: String): String = e match {
    case z: TimeZoneAwareExpression => z.timeZoneId.getOrElse(session)
    case _                          => session
  }

  /** The names of Spark's addition of an interval to a timestamp; 4.1 renamed it. */
  private val Additions = Set("TimestampAddInterval", "TimeAdd")

  private def plus(start: Expression, days: Expression, sign: Int, zone: String) =
    for {
      from <- of(start, zone)
      number <- Option.when(days.foldable)(days.eval()).collect { case n: Number => n.longValue }
      if math.abs(number) <= MostDays && math.abs(from.units) <= MostDays
    } yield Distance(from.base, from.units + sign * number)
}
