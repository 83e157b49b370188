package io.sash.spark.lateral

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit.Micro
import io.sash.spark.times.Distance

/**
 * An expression over `end - start`: a number of whole units that a condition compares.
 *
 * @param start the time that is subtracted
 * @param least maps a number to the least difference, in the times' own unit, for which the
 *   expression is at least this number
 */
private[lateral] final case class TimeDifference(
    start: Expression,
    end: Expression,
    least: Long => Long = identity
) {

  /** The greatest difference for which the expression is at most `number`. */
  private def last(number: Long): Long = Math.subtractExact(least(Math.addExact(number, 1L)), 1L)

  /**
   * Comparisons of the two times that hold together if and only if this one holds; none if a
   * distance is too long. An equality of truncated units is a range of times.
   */
  def solved(compared: BinaryComparison, number: Long): Option[Seq[Expression]] = {
    val (l, r) = (compared.left, compared.right)
    for {
      first <- units(least(number))
      latest <- units(last(number))
    } yield compared match {
      case _: EqualTo | _: EqualNullSafe if first == latest => Seq(times(EqualTo(l, r), first))
      case _: EqualTo | _: EqualNullSafe =>
        Seq(times(GreaterThanOrEqual(l, r), first), times(LessThanOrEqual(l, r), latest))
      case _: GreaterThanOrEqual | _: LessThan => Seq(times(compared, first))
      case _                                   => Seq(times(compared, latest))
    }
  }

  private def units(number: => Long): Option[Long] =
    Try(number).toOption.filter(math.abs(_) <= Distance.most(start.dataType))

  private def times(compared: BinaryComparison, units: Long): Expression =
    if (SubExprUtils.containsOuter(start))
      compared.withNewChildren(Seq(end, TimeDifference.from(start, units)))
    else
      TimeDifference
        .turned(compared)
        .withNewChildren(Seq(start, TimeDifference.from(end, -units)))
}

/**
 * Conditions on the difference of an event's time and a label's. `l.ts - e.ts < INTERVAL 7 DAYS`
 * becomes `e.ts > l.ts - INTERVAL 7 DAYS`, where a day has 24 hours.
 *
 * Spark subtracts two TIMESTAMPs by their local times. So the comparison is made of local times,
 * which are TIMESTAMP_NTZ, and it stays right when clocks change. In a time zone with a fixed
 * offset, the TIMESTAMPs themselves are compared.
 */
private[lateral] object TimeDifference {

  /** The condition as comparisons of two times, if it compares their difference. */
  def solved(condition: Expression): Seq[Expression] = (condition match {
    case b: BinaryComparison =>
      of(b.left).zip(constant(b.right)).flatMap { case (d, n) => d.solved(b, n) }.orElse {
        of(b.right).zip(constant(b.left)).flatMap { case (d, n) => d.solved(turned(b), n) }
      }
    case _ => None
  }).getOrElse(Seq(condition))

  /** The reason why a condition on a difference is left to Spark; empty if it is another one. */
  def advice(condition: Expression): String = condition
    .collectFirst {
      case d: TimestampDiff if !Micros.contains(unitOf(d)) => s"; ${d.unit} has no fixed length"
    }
    .getOrElse("")

  private def unitOf(d: TimestampDiff): String = d.unit.toUpperCase(java.util.Locale.ROOT)

  /** The same comparison with its sides exchanged. */
  private def turned(b: BinaryComparison): BinaryComparison = b match {
    case GreaterThanOrEqual(l, r) => LessThanOrEqual(r, l)
    case GreaterThan(l, r)        => LessThan(r, l)
    case LessThanOrEqual(l, r)    => GreaterThanOrEqual(r, l)
    case LessThan(l, r)           => GreaterThan(r, l)
    case other                    => other
  }

  private def constant(e: Expression): Option[Long] =
    if (!e.foldable) None
    else
      Try(e.eval()).toOption.collect {
        case n: Long => n
        case n: Int  => n.toLong
      }

  private def of(e: Expression): Option[TimeDifference] = e match {
    case Cast(child, LongType, _, _) if child.dataType == IntegerType             => of(child)
    case Cast(child, to: DayTimeIntervalType, _, _) if isKept(child.dataType, to) => of(child)
    case s: SubtractTimestamps if s.dataType.isInstanceOf[DayTimeIntervalType] =>
      val Seq(end, start) = Seq(s.left, s.right).map(onClock(_, s.timeZoneId))
      Option.when(areInMicros(start, end))(TimeDifference(start, end))
    case d: TimestampDiff =>
      val Seq(start, end) = Seq(d.left, d.right).map(onClock(_, d.timeZoneId))
      Micros
        .get(unitOf(d))
        .filter(_ => areInMicros(start, end))
        .map(unit => TimeDifference(start, end, truncated(unit)))
    case d: DateDiff => Some(TimeDifference(d.startDate, d.endDate))
    case s: SubtractDates if s.dataType.isInstanceOf[DayTimeIntervalType] =>
      Some(TimeDifference(s.right, s.left, -Math.floorDiv(_: Long, -MICROS_PER_DAY)))
    case s: Subtract =>
      (s.left, s.right) match {
        case (UnixMicros(end), UnixMicros(start)) => Some(TimeDifference(start, end))
        case (UnixDate(end), UnixDate(start))     => Some(TimeDifference(start, end))
        case (end, start) if UnixUnits.areAlike(end, start) =>
          Some(TimeDifference(start, end))
        case _ => None
      }
    case _ => None
  }

  /** Whether a cast of an interval cuts nothing off. */
  private def isKept(from: DataType, to: DayTimeIntervalType): Boolean = from match {
    case interval: DayTimeIntervalType => interval.endField <= to.endField
    case _                             => false
  }

  private def areInMicros(times: Expression*): Boolean =
    times.forall(t => Micro.isUnitOf(t.dataType))

  /** The lengths, in microseconds, of units that always have the same length in local time. */
  private val Micros: Map[String, Long] = Map(
    "MICROSECOND" -> 1L,
    "MILLISECOND" -> 1000L,
    "SECOND" -> 1000L * 1000,
    "MINUTE" -> 60L * 1000 * 1000,
    "HOUR" -> 3600L * 1000 * 1000,
    "DAY" -> MICROS_PER_DAY,
    "WEEK" -> 7 * MICROS_PER_DAY
  )

  /**
   * The least dividend whose quotient by `unit`, rounded towards zero, is at least `quotient`.
   */
  private def truncated(unit: Long)(quotient: Long): Long =
    if (quotient > 0) Math.multiplyExact(quotient, unit)
    else Math.addExact(Math.multiplyExact(Math.subtractExact(quotient, 1L), unit), 1L)

  private def onClock(time: Expression, zone: Option[String]): Expression =
    if (time.dataType != TimestampType || zone.exists(Distance.isFixed)) time
    else Cast(time, TimestampNTZType, zone)

  /** A time plus a distance. A BIGINT is a number of units since 1970. */
  private def from(base: Expression, units: Long): Expression =
    if (base.dataType != LongType || units == 0) Distance.from(base, units)
    else if (units < 0) new Subtract(base, Literal(-units))
    else new Add(base, Literal(units))
}
