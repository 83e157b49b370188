package io.sash.spark.times

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}

/**
 * A sum of a value and a fixed distance.
 *
 * @param units the distance: a number for an INT or BIGINT, days for a DATE, else microseconds
 */
private[spark] final case class Distance(base: Expression, units: Long) {

  /** Adds to the distance. None if either part is longer than any two valid values are apart. */
  private[times] def plus(more: Long): Option[Distance] = {
    val most = Distance.most(base.dataType)
    Option.when(math.abs(more) <= most && math.abs(units) <= most)(copy(units = units + more))
  }
}

private[spark] object Distance {

  /** Ten thousand years in days. A valid date plus two such distances does not overflow. */
  private val MostDays: Long = 3660000L

  /**
   * A hundred thousand years in microseconds. A valid time plus two of them does not overflow.
   */
  val Most: Long = 100000L * 366 * MICROS_PER_DAY

  /** The longest distance from a value of this type. */
  def most(of: DataType): Long = if (Day.isUnitOf(of)) MostDays else Most

  /** Reads an expression as a value plus a fixed distance. None if the distance is not fixed. */
  def of(e: Expression, zone: String): Option[Distance] = e match {
    case Cast(child, to, _, _) if child.dataType == to => of(child, zone)
    case r: RuntimeReplaceable                         => of(r.replacement, zone)
    case TimestampPlusMicros(start, micros)            => of(start, zone).flatMap(_.plus(micros))
    case DateAdd(start, days)                          => plusDays(of(start, zone), days, 1)
    case DateSub(start, days)                          => plusDays(of(start, zone), days, -1)
    case b: BinaryExpression if Additions(b.getClass.getSimpleName) && isMicros(b.left) =>
      fixedMicros(b.left, b.right, zoneOf(b, zone)).flatMap { micros =>
        of(b.left, zone).flatMap(_.plus(micros))
      }
    case _ => Some(Distance(e, 0L))
  }

  /**
   * Reads an expression as an INT or BIGINT plus a fixed distance. None if a summand is NULL. The
   * sum itself may overflow: see [[failsBeyond]]. A sum of INTs under a cast to BIGINT is taken
   * apart only if it cannot wrap around.
   */
  def ofNumber(e: Expression): Option[Distance] = e match {
    case c: Cast if isWidened(c) && failsBeyond(c.child) =>
      ofNumber(c.child).map(d => d.copy(base = c.withNewChildren(Seq(d.base))))
    case a: Add if a.right.foldable      => plusNumber(a.left, a.right, 1)
    case a: Add if a.left.foldable       => plusNumber(a.right, a.left, 1)
    case s: Subtract if s.right.foldable => plusNumber(s.left, s.right, -1)
    case _                               => Some(Distance(e, 0L))
  }

  private def plusNumber(start: Expression, number: Expression, sign: Int): Option[Distance] =
    for {
      from <- ofNumber(start)
      value <- Try(number.eval()).toOption.collect {
        case n: Int  => n.toLong
        case n: Long => n
      }
      if math.abs(from.units) <= Most && math.abs(value) <= Most
    } yield from.copy(units = from.units + sign * value)

  private def isWidened(c: Cast): Boolean =
    c.child.dataType == IntegerType && c.dataType == LongType

  /** Whether a sum of [[ofNumber]] throws if it overflows, as it does in ANSI mode. */
  def failsBeyond(e: Expression): Boolean = e match {
    case c: Cast if isWidened(c) => failsBeyond(c.child)
    case a: Add if a.right.foldable || a.left.foldable =>
      fails(a, greatest = true) && (a.left.foldable || failsBeyond(a.left)) &&
      (a.right.foldable || failsBeyond(a.right))
    case s: Subtract if s.right.foldable => fails(s, greatest = false) && failsBeyond(s.left)
    case _                               => true
  }

  private def fails(sum: BinaryArithmetic, greatest: Boolean): Boolean = {
    val (end, one) = sum.dataType match {
      case IntegerType => (Literal(if (greatest) Int.MaxValue else Int.MinValue), Literal(1))
      case _           => (Literal(if (greatest) Long.MaxValue else Long.MinValue), Literal(1L))
    }
    Try(sum.withNewChildren(Seq(end, one)).eval()).isFailure
  }

  /**
   * The length of an interval in microseconds. None if the interval is not constant, if its
   * length depends on the calendar or the time zone of `key`, or if a BIGINT is too short. Then
   * callers use Spark's own addition.
   */
  def fixedMicros(key: Expression, interval: Expression, zone: String): Option[Long] =
    ConstantInterval
      .of(interval)
      .filter { i =>
        i.months == 0 && (i.days == 0 || key.dataType == TimestampNTZType || isFixed(zone))
      }
      .flatMap(i => Try(ConstantInterval.micros(i)).toOption)

  /** Whether the clocks of a time zone never change. */
  def isFixed(zone: String): Boolean = DateTimeUtils.getZoneId(zone).getRules.isFixedOffset

  /** The expression for a value plus a distance. */
  def from(base: Expression, units: Long): Expression = base.dataType match {
    case _ if units == 0            => base
    case TimeUnit(Day) if units < 0 => DateSub(base, Literal(Math.toIntExact(-units)))
    case TimeUnit(Day)              => DateAdd(base, Literal(Math.toIntExact(units)))
    case TimeUnit(Micro)            => TimestampPlusMicros(base, units)
    case other => throw new IllegalStateException(s"no distance lies from a ${other.sql}")
  }

  private def isMicros(e: Expression): Boolean = Micro.isUnitOf(e.dataType)

  /** The value of a sum without its distance. */
  def base(e: Expression, zone: String): Expression = of(e, zone).fold(e)(_.base)

  /** Whether an expression itself, without its children, depends on a time zone. */
  def isZoned(e: Expression): Boolean = e match {
    case c: Cast if !Cast.needsTimeZone(c.child.dataType, c.dataType) => false
    case z: TimeZoneAwareExpression                                   => z.timeZoneId.nonEmpty
    case _                                                            => false
  }

  /** The time zone in which the query was analyzed. */
  private def zoneOf(e: Expression, session: String): String = e match {
    case z: TimeZoneAwareExpression => z.timeZoneId.getOrElse(session)
    case _                          => session
  }

  /** The names of Spark's addition of an interval to a timestamp; 4.1 renamed it. */
  private val Additions = Set("TimestampAddInterval", "TimeAdd")

  private def plusDays(start: Option[Distance], days: Expression, sign: Int): Option[Distance] =
    for {
      from <- start
      number <- Option.when(days.foldable)(days.eval()).collect { case n: Number => n.longValue }
      sum <- from.plus(sign * number)
    } yield sum
}
