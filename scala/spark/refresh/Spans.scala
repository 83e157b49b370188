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
 * Spans of time for each key, in the units of a [[WindowReach]]; both ends belong to a span. The
 * least and the greatest BIGINT mean no limit. A span without a limit also holds the rows whose
 * time is NULL.
 *
 * @param rows one row per span: the keys, the first and the last time, in the types of the query,
 *   where NULL means no limit
 * @param byKey one row per key: the key, and the ends of its spans ([[JoinedSpans]])
 * @param mayBeNull for each column of the key, whether it has a NULL in some span
 * @param keys the number of keys
 * @param count the number of spans
 * @param least the least first time
 * @param greatest the greatest last time
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
   * The rows of a plan that lie in a span of their key, or within reach of one.
   *
   * @param keys the row's key, in the order of the spans' keys. A key leaves out no row if
   *   the plan lacks a column of it, such as the column of hop windows above the plan
   * @param time the row's time; if there is none, the spans have no limits
   */
  def near(
      of: LogicalPlan,
      keys: Seq[Expression],
      time: Option[Expression],
      reach: WindowReach
  ): LogicalPlan = {
    // a plan may be joined with the spans several times, so each join has its own columns
    val columns = byKey.output.map(a => Alias(a, a.name)())
    val ofKey :+ ends = columns.map(_.toAttribute)
    val equal = keys.zip(ofKey).zip(mayBeNull).collect {
      case ((key, span), hasNull) if key.references.subsetOf(of.outputSet) =>
        if (hasNull) EqualNullSafe(key, span) else EqualTo(key, span)
    }
    val inside = time.filter(_ => reach.openEnds < 2).map(within(_, ends, reach))
    val condition = (equal ++ inside).reduceOption(And)
    val some = time.flatMap(between(_, reach)).fold(of)(Filter(_, of))
    val hint = Option.when(count <= Spans.Few)(HintInfo(Some(BROADCAST)))
    Join(some, Project(columns, byKey), LeftSemi, condition, JoinHint(None, hint))
  }

  /** The condition that a time lies between the least and the greatest span, or within reach. */
  def between(time: Expression, reach: WindowReach): Option[Expression] =
    Spans.between(
      time,
      Spans.back(Literal(least), reach.back).eval().asInstanceOf[Long],
      Spans.ahead(Literal(greatest), reach.ahead).eval().asInstanceOf[Long]
    )

  private def within(time: Expression, ends: Attribute, reach: WindowReach): Expression = {
    val units = Spans.units(time)
    val from = Spans.back(units, reach.ahead)
    val meets = InSpans(from, Spans.ahead(units, reach.back), ends)
    if (!time.nullable) meets
    else if (reach.openEnds > 0) Or(IsNull(time), meets)
    else {
      def holds(end: Literal) = InSpans(end, end, ends)
      If(IsNull(time), Or(holds(Spans.NoFirst), holds(Spans.NoLast)), meets)
    }
  }
}

private[refresh] object Spans {
  val NoFirst: Literal = Literal(Long.MinValue)
  val NoLast: Literal = Literal(Long.MaxValue)

  /** The most spans that are broadcast. */
  private val Few = 100000L

  /** The metadata of the spans' ends. */
  val Mark: Metadata = new MetadataBuilder().putBoolean("sash_span", true).build()

  /** Whether a column belongs to the spans that `Spans.near` joins with. */
  def isOfSpan(column: Attribute): Boolean = column.metadata.contains("sash_span")

  /** Whether a type can be the time of spans. */
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

  /** Turns units back into a time. NULL if the type has no such time. */
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
   * The condition that a time lies between two ends, in a form by which scans skip files. If the
   * time is truncated from another one, that one has a condition, too. None without limits.
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

  /** The time from which `time` is cast or truncated, and limits of it that are wide enough. */
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

  /** In days. Two clock settings of a time zone, past or present, always differ by less. */
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

  /** The units moved back by the reach; no limit if the reach has none. */
  def back(units: Expression, by: Option[Long]): Expression = moved(units, by, up = false)

  def ahead(units: Expression, by: Option[Long]): Expression = moved(units, by, up = true)

  private def moved(units: Expression, by: Option[Long], up: Boolean): Expression =
    by.fold[Expression](if (up) NoLast else NoFirst) { n =>
      if (n == 0) units else Reach(units, Literal(n), up, strict = false)
    }
}
