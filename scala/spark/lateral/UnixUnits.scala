package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._

/**
 * A number of whole units since 1970 that a TIMESTAMP has.
 *
 * @param micros the length of a unit
 * @param truncates whether a part of a unit is cut towards 1970; else it is cut towards the past
 */
private[lateral] final case class UnixUnits(micros: Long, truncates: Boolean) {

  /** The first time whose number is the given one or more, or the end of the range of times. */
  def first(number: Long): Long = {
    val (units, more) = if (truncates && number <= 0) (number - 1, 1L) else (number, 0L)
    if (units > Long.MaxValue / micros) Long.MaxValue
    else if (units < Long.MinValue / micros || units > number) Long.MinValue
    else units * micros + more
  }
}

private[lateral] object UnixUnits {

  /** The units and the time that are in a number. */
  def unapply(number: Expression): Option[(UnixUnits, Expression)] = number match {
    case UnixSeconds(time)          => Some((UnixUnits(Second, truncates = false), time))
    case UnixMillis(time)           => Some((UnixUnits(Second / 1000, truncates = false), time))
    case UnixMicros(time)           => Some((UnixUnits(1L, truncates = false), time))
    case Cast(time, LongType, _, _) => ofTimestamp(time, truncates = false)
    case u: UnixTimestamp           => ofTimestamp(u.left, truncates = true)
    case u: ToUnixTimestamp         => ofTimestamp(u.left, truncates = true)
    case _                          => None
  }

  /** Whether two numbers have the same units. */
  def areAlike(a: Expression, b: Expression): Boolean =
    unapply(a).zip(unapply(b)).exists { case ((ofA, _), (ofB, _)) => ofA == ofB }

  private def ofTimestamp(time: Expression, truncates: Boolean) =
    Option.when(time.dataType == TimestampType)((UnixUnits(Second, truncates), time))

  private val Second = 1000L * 1000
}

/**
 * The first TIMESTAMP that has a number of units.
 *
 * @param more the first one that has a greater number
 */
private[lateral] final case class FirstTime(child: Expression, units: UnixUnits, more: Boolean)
    extends UnaryExpression {
  override def prettyName: String = "first_time"
  override def dataType: DataType = TimestampType
  override def nullIntolerant: Boolean = true
  override def sql: String = s"$prettyName(${child.sql})"

  /** @param number of units */
  def of(number: Long): Long =
    if (!more) units.first(number)
    else if (number == Long.MaxValue) Long.MaxValue
    else units.first(number + 1)

  override protected def nullSafeEval(number: Any): Any = of(number.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val first = ctx.addReferenceObj("firstTime", this)
    defineCodeGen(ctx, ev, number => s"$first.of($number)")
  }

  override protected def withNewChildInternal(newChild: Expression): FirstTime =
    copy(child = newChild)
}
