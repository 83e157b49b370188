package io.sash.spark.times

import java.time.Instant
import java.time.zone.ZoneRules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

/**
 * A timestamp cut to the beginning of a unit: `date_trunc('hour', time)`, `time_bucket(…, time)`,
 * the date of a time, as a timestamp, or an end of `window(time, …)`.
 *
 * @param value the timestamp, over `time`
 * @param most how far after `time` it may lie at most, in microseconds
 */
private[spark] final case class CutTime(value: Expression, time: Expression, most: Long) {

  /**
   * Whether a later time is never cut to an earlier one, nor to one beyond `most`. That may be so
   * at a change of clocks alone: where they go back over midnight, two times may be cut to two
   * days in the wrong order.
   *
   * @param since the earliest time that is cut, in microseconds
   */
  def rises(since: Long): Boolean =
    zones.map(DateTimeUtils.getZoneId(_).getRules).forall { rules =>
      CutTime.changes(rules, since).forall { at =>
        cut(at - 1) <= cut(at) && cut(at) <= at + most
      }
    }

  /** The time zones in which the unit begins. */
  def zones: Seq[String] =
    value.collect { case z: TimeZoneAwareExpression => z.timeZoneId }.flatten.distinct

  private lazy val ofTime = value
    .transform {
      case e if e fastEquals time =>
        BoundReference(0, TimestampType, nullable = false)
    }
    .transformUp { case r: RuntimeReplaceable => r.replacement }

  private def cut(at: Long): Long = ofTime.eval(InternalRow(at)).asInstanceOf[Long]
}

private[spark] object CutTime {
  import WindowFormula._

  /** A year, the longest unit. */
  val Longest: Long = 366 * MICROS_PER_DAY

  /** The name of Spark's class for time_bucket, since 4.2. */
  private val Bucket = "TimeBucket"

  /** The rules of a zone repeat themselves after four hundred years. */
  private val Until = Instant.parse("2440-01-01T00:00:00Z")

  def of(e: Expression): Option[CutTime] = e match {
    case TruncTimestamp(unit, time, _) if isNotNull(unit) => cut(e, time)
    case Cast(date, TimestampType, _, _) =>
      dateOf(date).flatMap { from =>
        val days = from.units
        cut(e, from.base.children.head, if (days > 0) (days + 1) * MICROS_PER_DAY else 0L)
      }
    case Micros(Minus(LastStart(time, _, every), MicrosOf(0L))) if every <= Longest =>
      cut(e, time.child)
    case Micros(Plus(Minus(LastStart(time, _, every), MicrosOf(0L)), MicrosOf(size)))
        if every <= Longest =>
      cut(e, time.child, size)
    case _ if e.getClass.getSimpleName == Bucket =>
      val Seq(size, time, origin) = e.children
      if (isNotNull(origin) && isShort(size)) cut(e, time) else None
    case _ => None
  }

  /** Whether a bucket is no longer than a year. */
  private def isShort(size: Expression): Boolean = size.eval() match {
    case months: Int  => months <= 12
    case micros: Long => micros <= Longest
    case _            => false
  }

  /** Without the value for a unit that Spark does not know, which is NULL. */
  private def cut(value: Expression, time: Expression, most: Long = 0L): Option[CutTime] =
    Option.when(time.dataType == TimestampType)(CutTime(value, time, most)).filter { cut =>
      cut.ofTime.eval(InternalRow(0L)) != null
    }

  /** The date of a time, at a number of days from it. */
  private def dateOf(date: Expression): Option[Distance] =
    Distance.of(date, zone = "UTC").flatMap { from =>
      from.base match {
        case Cast(time, DateType, _, _) if time.dataType != DateType => Some(from)
        case TruncDate(of, unit) if isNotNull(unit) => dateOf(of).flatMap(_.plus(from.units))
        case _                                      => None
      }
    }

  private def isNotNull(e: Expression): Boolean = e.foldable && e.eval() != null

  /** When the clocks of a zone change, in microseconds. */
  private def changes(rules: ZoneRules, since: Long): Iterator[Long] =
    if (rules.isFixedOffset) Iterator.empty
    else
      Iterator
        .iterate(rules.nextTransition(DateTimeUtils.microsToInstant(since - 1))) { change =>
          rules.nextTransition(change.getInstant)
        }
        .takeWhile(change => change != null && change.getInstant.isBefore(Until))
        .map(change => DateTimeUtils.instantToMicros(change.getInstant))
}
