package io.sash.spark.times

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}

/**
 * A value and a fixed distance from it: a difference of numbers for a number, days for a DATE,
 * else microseconds.
 */
private[spark] final case class Distance(base: Expression, units: Long) {

  /** None beyond all valid values. */
  private[times] def plus(more: Long): Option[Distance] = {
    val most = if (Day.isUnitOf(base.dataType)) Distance.MostDays else Distance.Most
    Option.when(math.abs(more) <= most && math.abs(units) <= most)(copy(units = units + more))
  }
}

private[spark] object Distance {

  /** Ten thousand years in days: no valid date overflows by it, and no sum of two does. */
  private val MostDays: Long = 3660000L

  /** A hundred thousand years in microseconds, likewise. */
  val Most: Long = 100000L * 366 * MICROS_PER_DAY

  /** The value that a sum begins with, and its distance from there. None if it is not fixed. */
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
   * The INT or BIGINT that a sum begins with, and its distance from there. None if the sum has a
   * NULL. The sum itself may overflow: see [[failsBeyond]]. A sum of INTs that is cast to BIGINT
   * counts only if it cannot wrap around.
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

  /** Whether the sum of [[ofNumber]] is an error if it overflows, as it is in ANSI mode. */
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
   * The interval in microseconds. None if it is not constant, if its length depends on the time
   * in `key`'s zone, or if a BIGINT is too short. Then Spark's own addition applies.
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

  /** The value at a distance from another one. */
  def from(base: Expression, units: Long): Expression = base.dataType match {
    case _ if units == 0            => base
    case TimeUnit(Day) if units < 0 => DateSub(base, Literal(Math.toIntExact(-units)))
    case TimeUnit(Day)              => DateAdd(base, Literal(Math.toIntExact(units)))
    case TimeUnit(Micro)            => TimestampPlusMicros(base, units)
    case other => throw new IllegalStateException(s"no distance lies from a ${other.sql}")
  }

  private def isMicros(e: Expression): Boolean = Micro.isUnitOf(e.dataType)

  /** The value that a sum begins with. */
  def base(e: Expression, zone: String): Expression = of(e, zone).fold(e)(_.base)

  /** Whether an expression depends on a time zone itself, whatever its children do. */
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
