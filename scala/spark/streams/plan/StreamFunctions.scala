package io.sash.spark.streams.plan

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.types.IntegerType

import io.sash.spark.base.{NoWatermark, SparkVersions}

/**
 * Rewrites window functions that are no aggregates as aggregates, over frames that streams have.
 */
private[spark] object StreamFunctions {

  def asAggregates(window: Window): Window = {
    val expressions = window.windowExpressions.map(_.transform {
      case WindowExpression(_: RowNumber, spec) => Cast(count(spec), IntegerType)
      case WindowExpression(_: Rank, spec) =>
        val before = new Subtract(
          count(withFrame(spec, RangeFrame, UnboundedPreceding, CurrentRow)),
          count(withFrame(spec, RangeFrame, CurrentRow, CurrentRow))
        )
        Cast(new Add(before, Literal(1L)), IntegerType)
      case WindowExpression(l: Lag, spec) if l.ignoreNulls && isOne(l.inputOffset) =>
        val before = withFrame(spec, RowFrame, UnboundedPreceding, Literal(-1))
        val value = Last(l.input, ignoreNulls = true).toAggregateExpression()
        Coalesce(Seq(WindowExpression(value, before), Cast(l.default, l.dataType)))
      case WindowExpression(l: FrameLessOffsetWindowFunction, spec) if !l.ignoreNulls =>
        val value =
          WindowExpression(First(l.input, ignoreNulls = false).toAggregateExpression(), spec)
        val answer = If(EqualTo(count(spec), Literal(0L)), Cast(l.default, l.dataType), value)
        if (l.nullable) answer else KnownNotNull(answer)
    }.asInstanceOf[NamedExpression])
    SparkVersions.withExpressions(window, expressions)
  }

  /**
   * The window with a column in the place of each expression that its aggregates read, and these
   * columns.
   */
  def overColumns(window: Window): (Window, Seq[Alias]) = {
    val columns = new InputColumns
    val expressions = window.windowExpressions.map(_.transform {
      case w @ WindowExpression(a: AggregateExpression, _) =>
        w.copy(windowFunction = columns.of(a))
    }.asInstanceOf[NamedExpression])
    (SparkVersions.withExpressions(window, expressions), columns.aliases)
  }

  private def isOne(offset: Expression): Boolean = offset.foldable && offset.eval() == 1

  private def withFrame(
      spec: WindowSpecDefinition,
      kind: FrameType,
      lower: Expression,
      upper: Expression
  ): WindowSpecDefinition =
    spec.copy(frameSpecification = SpecifiedWindowFrame(kind, lower, upper))

  /** The number of rows in the frame of the function. */
  private def count(spec: WindowSpecDefinition): WindowExpression =
    WindowExpression(Count(Seq(Literal(1))).toAggregateExpression(), spec)
}

/**
 * Columns in the place of the expressions that aggregates read. The optimizer rewrites the
 * expressions of a Project, and not the expressions of the operator.
 *
 * @param isHidden whether the operator must not see the watermark of a column
 */
private[spark] final class InputColumns(isHidden: Attribute => Boolean = _ => false) {
  private[this] val inputs = mutable.LinkedHashMap.empty[Expression, Alias]

  def aliases: Seq[Alias] = inputs.values.toSeq

  def of(call: AggregateExpression): AggregateExpression = {
    val f = call.aggregateFunction
    val over = f.withNewChildren(f.children.map(column)).asInstanceOf[AggregateFunction]
    call.copy(aggregateFunction = over, filter = call.filter.map(column))
  }

  private def column(e: Expression): Expression = e match {
    case order: SortOrder => order.copy(child = column(order.child), sameOrderExpressions = Nil)
    case a: Attribute if !isHidden(a)                                          => a
    case literal if literal.foldable && !literal.containsPattern(CURRENT_LIKE) => literal
    case other =>
      inputs
        .getOrElseUpdate(
          if (other.deterministic) other.canonicalized else other,
          Alias(other, "input")(explicitMetadata = NoWatermark.Explicit)
        )
        .toAttribute
  }
}
