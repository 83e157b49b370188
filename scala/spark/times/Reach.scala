package io.sash.spark.times

import java.math.{BigDecimal, RoundingMode}
import java.time.LocalDate

import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.Day

/**
 * A bound of a window: the value of `key`'s type that is farthest from `key` among all values at
 * most `extent` away. If `strict`, among all values less than `extent` away.
 *
 * The result is exact, since no operand is cast to a narrower type. If the type ends before
 * `extent`, the result is the type's last value, also in ANSI mode. Doubles add up as in IEEE
 * 754. A finite extent never reaches from a finite double to an infinity. An infinite extent
 * does, from every key but NaN.
 *
 * @param key a number as INT, BIGINT, DECIMAL or DOUBLE (see `Extent`), a DATE, or a timestamp.
 *   If the length of a timestamp's extent depends on the calendar, see [[CalendarReach]]
 * @param extent 0 or more, or more than 0 if `strict`; microseconds for a timestamp
 * @param up whether the result is at or above `key`, not at or below
 */
private[spark] final case class Reach(
    key: Expression,
    extent: Expression,
    up: Boolean,
    strict: Boolean
) extends KeyPlusExtent {
  import ReachArithmetic._

  override protected def nullSafeEval(k: Any, e: Any): Any = (k, e) match {
    case (k: Double, e: Double)                 => doubles(k, e, up, strict)
    case (k: Long, e: Long)                     => longs(k, e, up, strict)
    case (k: Int, e: Long)                      => days(k, e, up, strict)
    case (k: Int, e: Int) if method == "months" => months(k, e, up, strict)
    case (k: Int, e: Int)                       => ints(k, e, up, strict)
    case (k: Long, e: Decimal)                  => longs(k, e, up, strict)
    case (k: Decimal, e: Decimal)               => decimals(k, e, up, strict, precision, scale)
    case _ => throw new IllegalStateException(s"$sql is of unknown types")
  }

  private def method: String = (key.dataType, extent.dataType) match {
    case (DoubleType, _)                                             => "doubles"
    case (_: DecimalType, _)                                         => "decimals"
    case (TimeUnit(Day), _: YearMonthIntervalType)                   => "months"
    case (TimeUnit(Day), _: DayTimeIntervalType)                     => "days"
    case (TimeUnit(Day) | IntegerType | _: YearMonthIntervalType, _) => "ints"
    case _                                                           => "longs"
  }

  private def precision: Int = key.dataType.asInstanceOf[DecimalType].precision

  private def scale: Int = key.dataType.asInstanceOf[DecimalType].scale

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val owner = ReachArithmetic.getClass.getName.stripSuffix("$")
    val more = if (method == "decimals") s", $precision, $scale" else ""
    defineCodeGen(ctx, ev, (k, e) => s"$owner.$method($k, $e, $up, $strict$more)")
  }

  override protected def withNewChildrenInternal(k: Expression, e: Expression): Reach =
    copy(key = k, extent = e)
}

/** A key moved by an extent, up or down. */
private[times] abstract class KeyPlusExtent extends BinaryExpression {
  def key: Expression
  def extent: Expression
  def up: Boolean

  override def prettyName: String = "reach"
  override def left: Expression = key
  override def right: Expression = extent
  override def dataType: DataType = key.dataType
  override def nullIntolerant: Boolean = true
  override def sql: String = s"(${key.sql} ${if (up) "+" else "-"} ${extent.sql})"
}

/** Generated code calls these methods. */
private[sash] object ReachArithmetic {
  def longs(key: Long, extent: Long, up: Boolean, strict: Boolean): Long = {
    val by = if (strict) extent - 1 else extent
    val end = if (up) key + by else key - by
    if (up) { if (end < key) Long.MaxValue else end }
    else if (end > key) Long.MinValue
    else end
  }

  def longs(key: Long, extent: Decimal, up: Boolean, strict: Boolean): Long = {
    val end = rounded(BigDecimal.valueOf(key), extent.toJavaBigDecimal, up, strict, scale = 0)
    if (end.compareTo(MostLong) > 0) Long.MaxValue
    else if (end.compareTo(LeastLong) < 0) Long.MinValue
    else end.longValueExact
  }

  def ints(key: Int, extent: Int, up: Boolean, strict: Boolean): Int =
    toInt(longs(key.toLong, extent.toLong, up, strict))

  /** Moves a date by an interval of whole days. */
  def days(date: Int, extent: Long, up: Boolean, strict: Boolean): Int =
    toInt(longs(date.toLong, extent / MICROS_PER_DAY, up, strict))

  /** Moves a date by an interval of months. */
  def months(date: Int, extent: Int, up: Boolean, strict: Boolean): Int = {
    val by = if (up) extent.toLong else -extent.toLong
    val end = LocalDate.ofEpochDay(date.toLong).plusMonths(by).toEpochDay
    toInt(if (!strict) end else if (up) end - 1 else end + 1)
  }

  def doubles(key: Double, extent: Double, up: Boolean, strict: Boolean): Double = {
    val by = if (up) extent else -extent
    val end = if (extent.isInfinite && !key.isNaN) by else key + by
    if (strict) { if (up) Math.nextDown(end) else Math.nextUp(end) }
    else if (key.isInfinite || extent.isInfinite) end
    else math.max(-Double.MaxValue, math.min(Double.MaxValue, end)) // keeps a NaN
  }

  def decimals(
      key: Decimal,
      extent: Decimal,
      up: Boolean,
      strict: Boolean,
      precision: Int,
      scale: Int
  ): Decimal = {
    val end = rounded(key.toJavaBigDecimal, extent.toJavaBigDecimal, up, strict, scale)
    val most = BigDecimal.TEN.pow(precision).subtract(BigDecimal.ONE).scaleByPowerOfTen(-scale)
    val within = end.min(most).max(most.negate).setScale(scale)
    Decimal(scala.math.BigDecimal(within), precision, scale)
  }

  /** The last value of this scale at or before the end of the extent; before it if `strict`. */
  private def rounded(
      key: BigDecimal,
      extent: BigDecimal,
      up: Boolean,
      strict: Boolean,
      scale: Int
  ): BigDecimal = {
    val end = if (up) key.add(extent) else key.subtract(extent)
    val last = end.setScale(scale, if (up) RoundingMode.FLOOR else RoundingMode.CEILING)
    if (!strict || last.compareTo(end) != 0) last
    else if (up) last.subtract(BigDecimal.valueOf(1, scale))
    else last.add(BigDecimal.valueOf(1, scale))
  }

  private def toInt(end: Long): Int = math.max(Int.MinValue, math.min(Int.MaxValue, end)).toInt

  private val MostLong = BigDecimal.valueOf(Long.MaxValue)
  private val LeastLong = BigDecimal.valueOf(Long.MinValue)
}
