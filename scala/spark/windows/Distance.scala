package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** A value and a fixed distance from it, in days for a DATE, else in microseconds. */
private[spark] final case class Distance(base: Expression, units: Long)

private[spark] object Distance {

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
