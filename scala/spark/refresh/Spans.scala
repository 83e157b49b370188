package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftSemi
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.times.Reach

/**
 * Spans of time, each of one key. They are a table of the keys and of the first and the last
 * time, in units as in a [[WindowReach]]. The least and the greatest BIGINT stand for no limit.
 * A span without a limit holds the rows without a time, too.
 *
 * @param table the keys, then the first and the last time
 * @param least the least of the first times
 * @param greatest the greatest of the last times
 */
private[refresh] final case class Spans(table: LogicalPlan, least: Long, greatest: Long) {

  /**
   * The rows whose key and time lie in a span, or within reach of one.
   *
   * @param keys of a row, in the order of the spans' keys
   * @param time of a row; if there is none, the spans have no limits
   */
  def rows(
      of: LogicalPlan,
      keys: Seq[Expression],
      time: Option[Expression],
      reach: WindowReach
  ): LogicalPlan = {
    // one plan may ask several times, each with columns of its own
    def column(of: Expression, name: String) =
      Alias(of, name)(explicitMetadata = Some(Spans.Mark))
    val columns = table.output.map(a => column(a, a.name))
    val first = column(Spans.back(table.output.init.last, reach.back), "first")
    val last = column(Spans.ahead(table.output.last, reach.ahead), "last")
    val spans = Project(columns.dropRight(2) :+ first :+ last, table)
    val equal = keys.zip(columns).map { case (key, span) => EqualNullSafe(key, span.toAttribute) }
    val inside = time.map(within(_, first.toAttribute, last.toAttribute))
    val condition = (equal ++ inside).reduceOption(And)
    val near = time.flatMap(Spans.between(_, least, greatest, reach)).fold(of)(Filter(_, of))
    Join(near, spans, LeftSemi, condition, JoinHint.NONE)
  }

  private def within(time: Expression, first: Attribute, last: Attribute): Expression = {
    val units = Spans.units(time)
    val between = And(LessThanOrEqual(first, units), LessThanOrEqual(units, last))
    if (!time.nullable) between
    else {
      val isOpen = Or(EqualTo(first, Spans.NoFirst), EqualTo(last, Spans.NoLast))
      Or(between, And(IsNull(time), isOpen))
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
   * leave out files. None if there are no limits.
   */
  def between(
      time: Expression,
      least: Long,
      greatest: Long,
      reach: WindowReach
  ): Option[Expression] = {
    def literal(units: Expression) =
      this.literal(units.eval().asInstanceOf[Long], time.dataType)
    val first = literal(back(Literal(least), reach.back))
    val last = literal(ahead(Literal(greatest), reach.ahead))
    val inside = (first.map(GreaterThanOrEqual(time, _)) ++ last.map(LessThanOrEqual(time, _)))
      .reduceOption[Expression](And)
    if (first.nonEmpty && last.nonEmpty || !time.nullable) inside
    else inside.map(Or(_, IsNull(time)))
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
