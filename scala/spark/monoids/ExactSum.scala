package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types._

/**
 * Exact sums with an exact inverse: Sum over integers and intervals, and Average over intervals.
 * A value x is kept as two sums, of its upper half (x >> 32) and of its lower half (x &
 * 0xffffffff). Neither sum can overflow up to 2^31 rows.
 *
 * So a window of at most 2^31 rows, whose exact sum fits the type, never fails, in whatever order
 * it was added up. If the sum does not fit, it fails, wraps or is NULL as in Spark.
 */
private[spark] object ExactSum {
  private val LowerHalf = Literal(0xffffffffL)
  private val HalfBits = Literal(32)

  /** The monoid of `f` with an exact sum, or none for any other aggregate or type. */
  def of(f: DeclarativeAggregate): Option[AggregateMonoid] = f match {
    case sum: Sum if isIntegral(sum.child.dataType) || isInterval(sum.child.dataType) =>
      Some(monoid(sum, sum.child))
    case average: Average if isInterval(average.child.dataType) =>
      Some(monoid(average, average.child))
    case _ => None
  }

  private def isIntegral(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _                                             => false
  }

  private def isInterval(dataType: DataType): Boolean = dataType match {
    case _: YearMonthIntervalType | _: DayTimeIntervalType => true
    case _                                                 => false
  }

  private def monoid(f: DeclarativeAggregate, child: Expression): AggregateMonoid = {
    val cells = Seq("high", "low", "count")
      .map(AttributeReference(_, LongType, nullable = false)())
    val right = cells.map(_.newInstance())
    val value = ReadAs(if (child.nullable) KnownNotNull(child) else child, LongType)
    val halves = Seq(ShiftRight(value, HalfBits), BitwiseAnd(value, LowerHalf), Literal(1L))
    AggregateMonoid(
      left = cells,
      right = right,
      identity = Seq.fill(3)(Literal(0L)),
      lift = if (child.nullable) halves.map(If(IsNull(child), Literal(0L), _)) else halves,
      combine = cells.zip(right).map { case (l, r) => WrappingLong.add(l, r) },
      lower = lower(f, cells),
      subtract = cells.zip(right).map { case (l, r) => WrappingLong.subtract(l, r) },
      hasPrefixes = true
    )
  }

  /** The aggregate's own result, with these cells in place of its buffer. */
  private def lower(f: DeclarativeAggregate, cells: Seq[Attribute]): Expression = {
    val count = cells(2)
    val empty = EqualTo(count, Literal(0L))
    val sum = f.aggBufferAttributes.head
    val exact = If(empty, Literal.create(null, sum.dataType), total(f, sum.dataType, cells))
    val expressed = f.aggBufferAttributes
      .map(_.exprId)
      .zip(exact +: (f match {
        case _: Sum => Seq(empty) // isEmpty, if Sum has it
        case _      => Seq(count)
      }))
      .toMap
    f.evaluateExpression.transformUp {
      case a: Attribute if expressed.contains(a.exprId) => expressed(a.exprId)
    }
  }

  private def total(
      f: DeclarativeAggregate,
      dataType: DataType,
      cells: Seq[Attribute]
  ): Expression = {
    val Seq(high, low, _) = cells
    val top = WrappingLong.add(high, ShiftRight(low, HalfBits))
    val value = BitwiseOr(ShiftLeft(top, HalfBits), BitwiseAnd(low, LowerHalf))
    val result = ReadAs(value, dataType)
    val fitsLong = EqualTo(ShiftRight(ShiftLeft(top, HalfBits), HalfBits), top)
    val fits = And(fitsLong, EqualTo(ReadAs(result, LongType), value))
    overflow(f, dataType).fold[Expression](result)(If(fits, result, _))
  }

  /**
   * Spark's own result of an addition that overflows: an error (ANSI) or NULL (TRY). None if
   * Spark's addition wraps around, since `value` then has the result already.
   */
  private def overflow(f: DeclarativeAggregate, dataType: DataType): Option[Expression] =
    f.mergeExpressions.flatMap(_.collectFirst { case a: Add => a }).headOption.flatMap { add =>
      val overflowing = add.withNewChildren(largest(dataType))
      val wraps =
        try overflowing.eval() != null
        catch { case _: ArithmeticException => false }
      if (wraps) None else Some(overflowing)
    }

  /** Two values whose sum overflows the type. */
  private def largest(dataType: DataType): Seq[Literal] = dataType match {
    case _: YearMonthIntervalType => Seq(Literal(Int.MaxValue, dataType), Literal(1, dataType))
    case _                        => Seq(Literal(Long.MaxValue, dataType), Literal(1L, dataType))
  }
}
