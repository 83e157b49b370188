package io.sash.spark.times

import java.time.Instant
import java.time.zone.ZoneRules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

/**
 * A timestamp that is truncated to a unit: `date_trunc('hour', time)`, `time_bucket(…, time)`,
 * the date of a time as a timestamp, or an end of `window(time, …)`.
 *
 * @param value the truncated timestamp, an expression over `time`
 * @param most the greatest distance, in microseconds, at which it may lie after `time`
 */
private[spark] final case class CutTime(value: Expression, time: Expression, most: Long) {

  /**
   * Whether a later time is never truncated to an earlier value, nor to a value beyond `most`.
   * Only a change of clocks can violate this. If clocks go back over midnight, two times may be
   * truncated to days in the wrong order. Cost: a few evaluations per change of clocks until
   * 2440.
   *
   * @param since the earliest time that is truncated, in microseconds
   */
  def rises(since: Long): Boolean =
    zones.map(DateTimeUtils.getZoneId(_).getRules).forall { rules =>
      CutTime.changes(rules, since).forall { at =>
        cut(at - 1) <= cut(at) && cut(at) <= at + most
      }
    }

  /** The time zones on which the value depends. */
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

  /** The longest unit, a year, in microseconds. */
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

  /** None if the value is NULL, as it is for a unit that Spark does not know. */
  private def cut(value: Expression, time: Expression, most: Long = 0L): Option[CutTime] =
    Option.when(time.dataType == TimestampType)(CutTime(value, time, most)).filter { cut =>
      cut.ofTime.eval(InternalRow(0L)) != null
    }

  /** The date of a time plus a number of days. */
  private def dateOf(date: Expression): Option[Distance] =
    Distance.of(date, zone = "UTC").flatMap { from =>
      from.base match {
        case Cast(time, DateType, _, _) if time.dataType != DateType => Some(from)
        case TruncDate(of, unit) if isNotNull(unit) => dateOf(of).flatMap(_.plus(from.units))
        case _                                      => None
      }
    }

  private def isNotNull(e: Expression): Boolean = e.foldable && e.eval() != null

  /** The times at which the clocks of a zone change, in microseconds. */
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
