package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._

/**
 * The rule by which a function turns a TIMESTAMP into a number of whole units since 1970.
 *
 * @param micros the length of a unit in microseconds
 * @param truncates whether a part of a unit is rounded towards 1970; else it is rounded down
 */
private[lateral] final case class UnixUnits(micros: Long, truncates: Boolean) {

  /**
   * The first time, in microseconds, whose number is at least `number`. The least or the greatest
   * BIGINT if the time would lie beyond it.
   */
  def first(number: Long): Long = {
    val (units, more) = if (truncates && number <= 0) (number - 1, 1L) else (number, 0L)
    if (units > Long.MaxValue / micros) Long.MaxValue
    else if (units < Long.MinValue / micros || units > number) Long.MinValue
    else units * micros + more
  }
}

private[lateral] object UnixUnits {

  /** Matches a function that gives such a number. Gives its rule and the time. */
  def unapply(number: Expression): Option[(UnixUnits, Expression)] = number match {
    case UnixSeconds(time)          => Some((UnixUnits(Second, truncates = false), time))
    case UnixMillis(time)           => Some((UnixUnits(Second / 1000, truncates = false), time))
    case UnixMicros(time)           => Some((UnixUnits(1L, truncates = false), time))
    case Cast(time, LongType, _, _) => ofTimestamp(time, truncates = false)
    case u: UnixTimestamp           => ofTimestamp(u.left, truncates = true)
    case u: ToUnixTimestamp         => ofTimestamp(u.left, truncates = true)
    case _                          => None
  }

  /** Whether two expressions count by the same rule. */
  def areAlike(a: Expression, b: Expression): Boolean =
    unapply(a).zip(unapply(b)).exists { case ((ofA, _), (ofB, _)) => ofA == ofB }

  private def ofTimestamp(time: Expression, truncates: Boolean) =
    Option.when(time.dataType == TimestampType)((UnixUnits(Second, truncates), time))

  private val Second = 1000L * 1000
}

/**
 * The first TIMESTAMP whose number of units is at least the child's value. NULL for NULL.
 *
 * @param child the number, a BIGINT
 * @param more whether the number has to be greater than the child's value
 */
private[lateral] final case class FirstTime(child: Expression, units: UnixUnits, more: Boolean)
    extends UnaryExpression {
  override def prettyName: String = "first_time"
  override def dataType: DataType = TimestampType
  override def nullIntolerant: Boolean = true
  override def sql: String = s"$prettyName(${child.sql})"

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
