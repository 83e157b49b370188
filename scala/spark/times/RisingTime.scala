package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types.{CalendarIntervalType, YearMonthIntervalType}

/**
 * A time that never falls while another time, its base, rises. It is the base plus a fixed
 * distance or truncated to a unit, or the greatest or least of several such times. The base is a
 * time of a stream's row, which is not before 1970.
 *
 * @param base the other time
 * @param least the least distance, in microseconds, at which this time lies after `base`
 * @param most the greatest distance, likewise
 */
private[spark] final case class RisingTime(base: Expression, least: Long, most: Long) {

  /** This time moved by a distance between `low` and `high`. None beyond all dates. */
  private def moved(low: Long, high: Long): Option[RisingTime] =
    Option.when(Seq(least, most, low, high).forall(math.abs(_) <= Distance.Most / 2)) {
      RisingTime(base, least + low, most + high)
    }

  /** This time truncated to a unit; none if the result may fall. */
  private def cut(by: CutTime): Option[RisingTime] =
    Option.when(by.rises(math.min(0L, least)))(moved(-CutTime.Longest, by.most)).flatten
}

private[spark] object RisingTime {

  /** Reads an expression as a rising time. None if it may fall. */
  def of(e: Expression, zone: String): Option[RisingTime] =
    Distance.of(e, zone).flatMap { distance =>
      atBase(distance.base, zone).flatMap(_.moved(distance.units, distance.units))
    }

  private def atBase(e: Expression, zone: String): Option[RisingTime] = e match {
    case CutToHop(time, hop, false) => of(time, zone).flatMap(_.moved(1L - hop, 0L))
    case Greatest(times)            => ofAll(times, zone)(_ max _)
    case Least(times)               => ofAll(times, zone)(_ min _)
    case GetStructField(window: CreateNamedStruct, end, _) => of(window.valExprs(end), zone)
    case If(none, Literal(null, _), time)
        if isNullTest(none) && none.references.subsetOf(time.references) =>
      of(time, zone)
    case _ =>
      CutTime.of(e) match {
        case None      => Some(RisingTime(e, 0L, 0L))
        case Some(cut) => of(cut.time, zone).flatMap(_.cut(cut))
      }
  }

  /** The greatest or the least of several times. None unless all rise with one base. */
  private def ofAll(times: Seq[Expression], zone: String)(
      which: (Long, Long) => Long
  ): Option[RisingTime] = {
    val rising = times.flatMap(of(_, zone))
    Option.when(
      rising.length == times.length && rising.forall(_.base.semanticEquals(rising.head.base))
    ) {
      val (least, most) = (rising.map(_.least), rising.map(_.most))
      RisingTime(rising.head.base, least.reduce(which), most.reduce(which))
    }
  }

  private def isNullTest(e: Expression): Boolean = e match {
    case Or(left, right) => isNullTest(left) && isNullTest(right)
    case _: IsNull       => true
    case _               => false
  }

  /** A truncation inside an expression that may fall; none without one. */
  def falling(e: Expression, zone: String): Option[CutTime] =
    e.collect { case part => CutTime.of(part) }.flatten.find { cut =>
      of(cut.time, zone).nonEmpty && of(cut.value, zone).isEmpty
    }

  /**
   * The greatest fall, in microseconds, of a sum of a time and intervals while the time rises. An
   * interval of months moves the last days of a month to the same day of a shorter month. A
   * change of clocks moves a time by at most a day.
   */
  def longestFall(sum: Expression): Long = {
    val hasMonths = sum.exists(_.dataType match {
      case _: YearMonthIntervalType | CalendarIntervalType => true
      case _                                               => false
    })
    if (hasMonths) 5 * MICROS_PER_DAY
    else if (sum.exists(Distance.isZoned)) MICROS_PER_DAY
    else 0L
  }
}
