package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro, NanoOfDay}

/**
 * Maps a number, time or interval to a long with the same order. All NaNs are one number, above
 * all others, and -0.0 comes before 0.0.
 */
private[spark] final case class OrderedLong(child: Expression) extends UnaryExpression {
  override def prettyName: String = "ordered_long"

  override def dataType: DataType = LongType

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(value: Any): Any = value match {
    case d: Double  => OrderedLong.of(d)
    case f: Float   => OrderedLong.of(f.toDouble)
    case d: Decimal => d.toUnscaledLong
    case n: Number  => n.longValue
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(
      ctx,
      ev,
      value =>
        child.dataType match {
          case FloatType | DoubleType =>
            s"${OrderedLong.getClass.getName.stripSuffix("$")}.of((double) $value)"
          case _: DecimalType => s"$value.toUnscaledLong()"
          case _              => s"((long) $value)"
        }
    )

  override protected def withNewChildInternal(newChild: Expression): OrderedLong =
    copy(child = newChild)
}

private[spark] object OrderedLong {

  /** Whether a long can hold each value of the type. */
  def accepts(dataType: DataType): Boolean = dataType match {
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case _: YearMonthIntervalType | _: DayTimeIntervalType => true
    case TimeUnit(Day | Micro | NanoOfDay)                 => true
    case _                                                 => dataType.isInstanceOf[NumericType]
  }

  def of(value: Double): Long = flipped(java.lang.Double.doubleToLongBits(value))

  /** The value of the type that was mapped to `ordered`. */
  def toDouble(ordered: Long, dataType: DataType): Double = dataType match {
    case FloatType | DoubleType => java.lang.Double.longBitsToDouble(flipped(ordered))
    case d: DecimalType         => Decimal(ordered, d.precision, d.scale).toDouble
    case _                      => ordered.toDouble
  }

  /**
   * Inverts the lower bits of negative numbers, since their bits descend as the numbers ascend.
   */
  private def flipped(bits: Long): Long = if (bits < 0) bits ^ Long.MaxValue else bits
}
