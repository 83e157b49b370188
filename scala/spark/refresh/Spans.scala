package io.sash.spark.refresh

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftSemi
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.times.Reach

/**
 * Spans of time, in units as in a [[WindowReach]]. The least and the greatest BIGINT stand for no
 * limit. A span without a limit holds the rows without a time, too.
 *
 * @param rows the keys, and the first and the last time, as users see them
 * @param byKey the keys, then the first and the last times of all spans of one, in order
 * @param mayBeNull whether any of a column of the keys is NULL
 * @param least the least of the first times
 * @param greatest the greatest of the last times
 */
private[refresh] final case class Spans(
    rows: DataFrame,
    byKey: LogicalPlan,
    mayBeNull: Seq[Boolean],
    keys: Long,
    count: Long,
    least: Long,
    greatest: Long
) {

  /**
   * The rows whose key and time lie in a span, or within reach of one.
   *
   * @param keys of a row, in the order of the spans' keys
   * @param time of a row; if there is none, the spans have no limits
   */
  def near(
      of: LogicalPlan,
      keys: Seq[Expression],
      time: Option[Expression],
      reach: WindowReach
  ): LogicalPlan = {
    // one plan may ask several times, each with columns of its own
    val columns = byKey.output.map(a => Alias(a, a.name)(explicitMetadata = Some(Spans.Mark)))
    val (ofKey, ends) = columns.map(_.toAttribute).splitAt(keys.length)
    val equal = keys.zip(ofKey).zip(mayBeNull).map { case ((key, span), hasNull) =>
      if (hasNull) EqualNullSafe(key, span) else EqualTo(key, span)
    }
    val inside = time.filter(_ => reach.openEnds < 2).map(within(_, ends, reach))
    val condition = (equal ++ inside).reduceOption(And)
    val some = time.flatMap(between(_, reach)).fold(of)(Filter(_, of))
    Join(some, Project(columns, byKey), LeftSemi, condition, JoinHint.NONE)
  }

  /** The condition on a time to lie between the first span and the last, or within reach. */
  def between(time: Expression, reach: WindowReach): Option[Expression] =
    Spans.between(
      time,
      Spans.back(Literal(least), reach.back).eval().asInstanceOf[Long],
      Spans.ahead(Literal(greatest), reach.ahead).eval().asInstanceOf[Long]
    )

  private def within(time: Expression, ends: Seq[Attribute], reach: WindowReach): Expression = {
    val units = Spans.units(time)
    val Seq(firsts, lasts) = ends
    val from = Spans.back(units, reach.ahead)
    val meets = InSpans(from, Spans.ahead(units, reach.back), firsts, lasts)
    if (!time.nullable) meets
    else if (reach.openEnds > 0) Or(IsNull(time), meets)
    else {
      def holds(end: Literal) = InSpans(end, end, firsts, lasts)
      If(IsNull(time), Or(holds(Spans.NoFirst), holds(Spans.NoLast)), meets)
    }
  }
}

private[refresh] object Spans {
  val NoFirst: Literal = Literal(Long.MinValue)
  val NoLast: Literal = Literal(Long.MaxValue)

  private val Mark = new MetadataBuilder().putBoolean("sash_span", true).build()

  /** Whether a column is one of the spans beside which rows are looked up. */
  def isOfSpan(column: Attribute): Boolean = column.metadata.contains("sash_span")

  /** Whether values of a type are times that spans can have ends at. */
  def isTime(dataType: DataType): Boolean = dataType match {
    case TimeUnit(Day | Micro)                         => true
    case ByteType | ShortType | IntegerType | LongType => true
    case _                                             => false
  }

  def units(time: Expression): Expression = time.dataType match {
    case TimeUnit(Micro) => PreciseTimestampConversion(time, time.dataType, LongType)
    case TimeUnit(Day)   => Cast(UnixDate(time), LongType)
    case LongType        => time
    case _               => Cast(time, LongType)
  }

  /** The time of some units; NULL beyond all times of the type. */
  def time(units: Expression, dataType: DataType): Expression = {
    val (least, most) = range(dataType)
    val value = dataType match {
      case TimeUnit(Micro) => PreciseTimestampConversion(units, LongType, dataType)
      case TimeUnit(Day)   => DateFromUnixDate(Cast(units, IntegerType))
      case LongType        => units
      case _               => Cast(units, dataType)
    }
    val isOut =
      Or(LessThanOrEqual(units, Literal(least)), GreaterThanOrEqual(units, Literal(most)))
    If(isOut, Literal(null, dataType), value)
  }

  private def literal(units: Long, dataType: DataType): Option[Literal] = {
    val (least, most) = range(dataType)
    Option.when(units > least && units < most)(dataType match {
      case TimeUnit(Day) | IntegerType => Literal(units.toInt, dataType)
      case ShortType                   => Literal(units.toShort)
      case ByteType                    => Literal(units.toByte)
      case _                           => Literal(units, dataType)
    })
  }

  /**
   * The condition on a time to lie between two ends, or within reach of them, with which scans
   * leave out files; and on the time that it is cut from. None if there are no limits.
   */
  private def between(time: Expression, least: Long, greatest: Long): Option[Expression] = {
    val first = literal(least, time.dataType).map(GreaterThanOrEqual(time, _))
    val last = literal(greatest, time.dataType).map(LessThanOrEqual(time, _))
    val inside = (first ++ last).reduceOption[Expression](And)
    val own =
      if (first.nonEmpty && last.nonEmpty || !time.nullable) inside
      else inside.map(Or(_, IsNull(time)))
    val ofSource = source(time, least, greatest).flatMap { case (e, a, b) => between(e, a, b) }
    (own ++ ofSource).reduceOption[Expression](And)
  }

  /** The time that another one is cut from, and its limits. */
  private def source(
      time: Expression,
      least: Long,
      greatest: Long
  ): Option[(Expression, Long, Long)] = {
    val (first, last, day) = (BigInt(least), BigInt(greatest), BigInt(MICROS_PER_DAY))
    val ends = time match {
      case c: Cast if Day.isUnitOf(c.dataType) && Micro.isUnitOf(c.child.dataType) =>
        Some((c.child, (first - Clocks) * day, (last + 1 + Clocks) * day))
      case c: Cast if Micro.isUnitOf(c.dataType) && Day.isUnitOf(c.child.dataType) =>
        Some((c.child, first / day - Clocks, last / day + Clocks))
      case TruncTimestamp(Literal(unit: UTF8String, _), t, _) =>
        Some((t, first, last + (longest(unit) + Clocks) * day))
      case TruncDate(d, Literal(unit: UTF8String, _)) => Some((d, first, last + longest(unit)))
      case _                                          => None
    }
    def limit(end: BigInt) = end.max(Long.MinValue).min(Long.MaxValue).toLong
    ends.map { case (e, a, b) =>
      (
        e,
        if (NoFirst.value == least) least else limit(a),
        if (NoLast.value == greatest) greatest else limit(b)
      )
    }
  }

  /** In days; no two clocks of a time zone, past or present, differ by so much. */
  private val Clocks = 2

  private def longest(unit: UTF8String): Int = unit.toString.toUpperCase(Locale.ROOT) match {
    case "MONTH" | "MM" | "MON"                                                     => 31
    case "WEEK"                                                                     => 7
    case u if u.endsWith("DAY") || u == "DD" || u == "HOUR" || u.contains("SECOND") => 1
    case _                                                                          => 366
  }

  private def range(dataType: DataType): (Long, Long) = dataType match {
    case TimeUnit(Day) | IntegerType => (Int.MinValue.toLong, Int.MaxValue.toLong)
    case ShortType                   => (Short.MinValue.toLong, Short.MaxValue.toLong)
    case ByteType                    => (Byte.MinValue.toLong, Byte.MaxValue.toLong)
    case _                           => (Long.MinValue, Long.MaxValue)
  }

  /** Some units before others, where the reach has a limit. */
  def back(units: Expression, by: Option[Long]): Expression = moved(units, by, up = false)

  def ahead(units: Expression, by: Option[Long]): Expression = moved(units, by, up = true)

  private def moved(units: Expression, by: Option[Long], up: Boolean): Expression =
    by.fold[Expression](if (up) NoLast else NoFirst) { n =>
      if (n == 0) units else Reach(units, Literal(n), up, strict = false)
    }
}
