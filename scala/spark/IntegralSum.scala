package io.sash.spark

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.types.{ByteType, IntegerType, LongType, ShortType}

/**
 * The exact sum of integers, which has an exact inverse. A value x is kept as two sums, of its
 * upper half (x >> 32) and of its lower half (x & 0xffffffff): up to 2^31 rows neither can
 * overflow, so that a window whose exact sum fits a BIGINT never raises, in whatever order it was
 * added up, and one whose sum does not fit fails, wraps or is NULL as Spark's would.
 */
private[spark] object IntegralSum {
  private val LowerHalf = Literal(0xffffffffL)
  private val HalfBits = Literal(32)

  def accepts(sum: Sum): Boolean = sum.child.dataType match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _                                             => false
  }

  def apply(sum: Sum): AggregateMonoid = {
    val cells =
      Seq("high", "low", "count").map(AttributeReference(_, LongType, nullable = false)())
    val right = cells.map(_.newInstance())
    val value = if (sum.child.dataType == LongType) sum.child else Cast(sum.child, LongType)
    val known = if (value.nullable) KnownNotNull(value) else value
    val halves = Seq(ShiftRight(known, HalfBits), BitwiseAnd(known, LowerHalf), Literal(1L))
    val zeros = Seq.fill(3)(Literal(0L))
    AggregateMonoid(
      left = cells,
      right = right,
      identity = zeros,
      lift = if (value.nullable) halves.map(If(IsNull(value), Literal(0L), _)) else halves,
      combine = cells.zip(right).map { case (l, r) => WrappingLong.add(l, r) },
      lower = lower(sum, cells),
      subtract = cells.zip(right).map { case (l, r) => WrappingLong.subtract(l, r) }
    )
  }

  private def lower(sum: Sum, cells: Seq[Attribute]): Expression = {
    val Seq(high, low, count) = cells
    val top = WrappingLong.add(high, ShiftRight(low, HalfBits))
    val value = BitwiseOr(ShiftLeft(top, HalfBits), BitwiseAnd(low, LowerHalf))
    val fits = EqualTo(ShiftRight(ShiftLeft(top, HalfBits), HalfBits), top)
    val none = Literal.create(null, LongType)
    val checked = overflow(sum).fold[Expression](value)(If(fits, value, _))
    If(EqualTo(count, Literal(0L)), none, checked)
  }

  /**
   * What Spark's addition does on overflow, by letting it overflow: raise the error (ANSI) or
   * give NULL (TRY). None if it wraps around, as `value` does by itself.
   */
  private def overflow(sum: Sum): Option[Expression] =
    sum.mergeExpressions.flatMap(_.collectFirst { case a: Add => a }).headOption.flatMap { add =>
      val overflowing = add.withNewChildren(Seq(Literal(Long.MaxValue), Literal(1L)))
      val wraps =
        try overflowing.eval() != null
        catch { case _: ArithmeticException => false }
      if (wraps) None else Some(overflowing)
    }
}
