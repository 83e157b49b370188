package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types.{DoubleType, IntegerType, LongType}

/** Rewrites window functions of a row's position to aggregates over frames. */
private[spark] object PositionFunctions {

  /** The functions that need no rows after their own frame. */
  def asAggregates(expression: Expression): Expression = expression.transform {
    case WindowExpression(_: RowNumber, spec) => Cast(count(spec), IntegerType)
    case WindowExpression(_: Rank, spec) =>
      Cast(new Add(rowsBefore(spec), Literal(1L)), IntegerType)
    case WindowExpression(_: DenseRank, spec) =>
      val groups = PeerGroups(spec.orderSpec.map(_.child)).toAggregateExpression()
      Cast(WindowExpression(groups, growing(spec, RangeFrame)), IntegerType)
    case WindowExpression(l: Lag, spec) if l.ignoreNulls && isOne(l.inputOffset) =>
      val before = withFrame(spec, RowFrame, UnboundedPreceding, Literal(-1))
      val value = Last(l.input, ignoreNulls = true).toAggregateExpression()
      Coalesce(Seq(WindowExpression(value, before), Cast(l.default, l.dataType)))
    case WindowExpression(l: FrameLessOffsetWindowFunction, spec) if !l.ignoreNulls =>
      val value =
        WindowExpression(First(l.input, ignoreNulls = false).toAggregateExpression(), spec)
      val answer = If(EqualTo(count(spec), Literal(0L)), Cast(l.default, l.dataType), value)
      if (l.nullable) answer else KnownNotNull(answer)
  }

  /**
   * The functions that become aggregates only in a window that is divided among tasks. They need
   * the number of all rows, or are simply `first`.
   */
  def ofAllRows(expression: Expression): Expression = expression.transform {
    // Spark's optimizer makes nth_value(x, 1) of first_value(x)
    case w @ WindowExpression(NthValue(input, offset, ignoreNulls), _) if isOne(offset) =>
      w.copy(windowFunction = First(input, ignoreNulls).toAggregateExpression())
    // over no rows, `first` is NULL, as the default
    case WindowExpression(l: FrameLessOffsetWindowFunction, spec)
        if !l.ignoreNulls && isNull(l.default) =>
      WindowExpression(First(l.input, ignoreNulls = false).toAggregateExpression(), spec)
    case WindowExpression(_: PercentRank, spec) =>
      val others = new Subtract(all(spec), Literal(1L))
      If(GreaterThan(others, Literal(0L)), ratio(rowsBefore(spec), others), Literal(0.0))
    case WindowExpression(_: CumeDist, spec) =>
      ratio(count(growing(spec, RangeFrame)), all(spec))
    case WindowExpression(NTile(buckets), spec) =>
      Cast(
        bucket(count(growing(spec, RowFrame)), all(spec), Cast(buckets, LongType)),
        IntegerType
      )
  }

  private def isNull(e: Expression): Boolean = e.foldable && e.eval() == null

  /**
   * The bucket of a row. The first `rows % buckets` buckets have one row more than the others.
   *
   * @param number the row's number from 1
   */
  private def bucket(number: Expression, rows: Expression, buckets: Expression): Expression = {
    val before = new Subtract(number, Literal(1L))
    val size = new IntegralDivide(rows, buckets)
    val longer = new Remainder(rows, buckets)
    val larger = new Add(size, Literal(1L))
    val inLonger = new Multiply(longer, larger)
    val zeroBased = If(
      LessThan(before, inLonger),
      new IntegralDivide(before, larger),
      new Add(longer, new IntegralDivide(new Subtract(before, inLonger), size))
    )
    new Add(zeroBased, Literal(1L))
  }

  private def ratio(part: Expression, of: Expression): Expression =
    new Divide(Cast(part, DoubleType), Cast(of, DoubleType))

  private def isOne(offset: Expression): Boolean = offset.foldable && offset.eval() == 1

  /** The number of rows before the current row's peers. */
  private def rowsBefore(spec: WindowSpecDefinition): Expression = new Subtract(
    count(growing(spec, RangeFrame)),
    count(withFrame(spec, RangeFrame, CurrentRow, CurrentRow))
  )

  private def all(spec: WindowSpecDefinition): Expression =
    count(withFrame(spec, RowFrame, UnboundedPreceding, UnboundedFollowing))

  private def growing(spec: WindowSpecDefinition, kind: FrameType): WindowSpecDefinition =
    withFrame(spec, kind, UnboundedPreceding, CurrentRow)

  private def withFrame(
      spec: WindowSpecDefinition,
      kind: FrameType,
      lower: Expression,
      upper: Expression
  ): WindowSpecDefinition =
    spec.copy(frameSpecification = SpecifiedWindowFrame(kind, lower, upper))

  /** The number of rows in a frame. */
  private def count(spec: WindowSpecDefinition): WindowExpression =
    WindowExpression(Count(Seq(Literal(1))).toAggregateExpression(), spec)
}
