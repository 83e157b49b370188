package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}

/**
 * The number of the pane that holds a time, if time is divided into panes of one width. Values
 * are in days for a DATE, in microseconds for a timestamp, and in any unit for a BIGINT.
 *
 * @param start the time at which pane 0 begins
 */
private[spark] final case class PaneNumber(child: Expression, width: Long, start: Long = 0L)
    extends UnaryExpression {
  private[this] lazy val first = Math.floorDiv(start, width)
  private[this] lazy val offset = Math.floorMod(start, width)

  override def prettyName: String = "pane_number"
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true
  override def sql: String = s"$prettyName(${child.sql}, $width, $start)"

  override protected def nullSafeEval(time: Any): Any =
    PaneNumber.of(time.asInstanceOf[Number].longValue, width, first, offset)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val owner = PaneNumber.getClass.getName.stripSuffix("$")
    defineCodeGen(ctx, ev, time => s"$owner.of($time, ${width}L, ${first}L, ${offset}L)")
  }

  override protected def withNewChildInternal(newChild: Expression): PaneNumber =
    copy(child = newChild)
}

private[sash] object PaneNumber {

  /**
   * The number of a time's pane. Generated code calls this method. It computes no difference of
   * two times, since that may be beyond BIGINT.
   *
   * @param first the start of pane 0 divided by the width, rounded down
   * @param offset the remainder of that division
   */
  def of(time: Long, width: Long, first: Long, offset: Long): Long = {
    val multiple = Math.floorDiv(time, width)
    multiple - first - (if (time - multiple * width < offset) 1 else 0)
  }

  /**
   * The number of a row's pane in a slide by time. Panes begin at multiples of the slide since
   * 1970-01-01 00:00:00 UTC, as in Spark's `window` function. Panes of months begin with a month.
   * None if an order of this type has no panes of this width.
   */
  def ofSlide(by: Expression, every: Expression, timeZone: String): Option[PaneNumber] =
    ConstantInterval.of(every).flatMap { i =>
      by.dataType match {
        case TimeUnit(Day | Micro) if i.months != 0 =>
          Option.when(i.days == 0 && i.microseconds == 0)(ofMonths(by, i.months, timeZone))
        case TimeUnit(Micro) => Some(PaneNumber(by, ConstantInterval.micros(i)))
        case TimeUnit(Day)   => Option.when(i.microseconds == 0)(PaneNumber(by, i.days.toLong))
        case _               => None
      }
    }

  private def ofMonths(by: Expression, months: Int, timeZone: String): PaneNumber = {
    val date =
      if (Day.isUnitOf(by.dataType)) by else Cast(by, DateType, Some(timeZone))
    val years = new Multiply(Cast(Year(date), LongType), Literal(12L))
    PaneNumber(
      new Add(years, Cast(new Subtract(Month(date), Literal(1)), LongType)),
      months.toLong
    )
  }
}
