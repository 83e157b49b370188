package io.sash.spark.split

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}
import org.apache.spark.unsafe.types.CalendarInterval

import io.sash.spark.times.{ConstantInterval, Distance}

/** Tells how the bounds of RANGE move from row to row. */
private[split] object RisingBounds {

  /**
   * Whether no later row has an earlier bound. One month after January 29, 10:00, is February 28,
   * 10:00, and one month after January 30, 9:00, is February 28, 9:00. Likewise for days in a
   * time zone whose clocks change.
   */
  def rise(order: Seq[SortOrder], frame: SpecifiedWindowFrame, zone: String): Boolean =
    offsets(frame).forall(isFixed(order, _, zone))

  /**
   * Whether a row's lower bound may lie behind its upper bound. So it is for a day and for 24
   * hours before a time, if the day has 23 hours.
   */
  def mayCross(order: Seq[SortOrder], frame: SpecifiedWindowFrame, zone: String): Boolean =
    !rise(order, frame, zone) && !isUnbounded(frame) && !(for {
      from <- interval(frame.lower)
      until <- interval(frame.upper)
    } yield areInOrder(from, until)).contains(true)

  /** Whether the one time is no later than the other, whatever time the intervals begin at. */
  private def areInOrder(from: CalendarInterval, until: CalendarInterval): Boolean = {
    val (months, days) = (until.months - from.months, until.days - from.days)
    val micros = BigInt(until.microseconds) - from.microseconds
    val least = (BigInt(months) * DaysOfMonth + days) * MICROS_PER_DAY + micros
    months >= 0 && (days >= 0 && micros >= 0 || least >= MostChanges * MICROS_PER_DAY)
  }

  private val DaysOfMonth = 28

  /** In days: clocks have changed by a day at most, and there may be a change at each end. */
  private val MostChanges = 3

  private def isUnbounded(frame: SpecifiedWindowFrame): Boolean =
    frame.lower == UnboundedPreceding || frame.upper == UnboundedFollowing

  private def interval(bound: Expression): Option[CalendarInterval] = bound match {
    case CurrentRow => Some(new CalendarInterval(0, 0, 0L))
    case offset     => ConstantInterval.of(offset)
  }

  private def offsets(frame: SpecifiedWindowFrame): Seq[Expression] =
    Seq(frame.lower, frame.upper).filterNot(_.isInstanceOf[SpecialFrameBoundary])

  private def isFixed(order: Seq[SortOrder], offset: Expression, zone: String): Boolean = {
    val key = order.head.child
    key.dataType match {
      case TimestampType | TimestampNTZType => Distance.fixedMicros(key, offset, zone).nonEmpty
      case _                                => true
    }
  }
}
