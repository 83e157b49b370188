package io.sash.spark.streams

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.types.IntegerType

import io.sash.spark.SparkVersions

/** Window functions that are no aggregates, as aggregates over frames that streams have. */
private[spark] object StreamFunctions {

  def asAggregates(window: Window): Window = {
    val expressions = window.windowExpressions.map(_.transform {
      case WindowExpression(_: RowNumber, spec) => Cast(count(spec), IntegerType)
      case WindowExpression(l: Lag, spec) if !l.ignoreNulls =>
        val value =
          WindowExpression(First(l.input, ignoreNulls = false).toAggregateExpression(), spec)
        val answer = If(EqualTo(count(spec), Literal(0L)), Cast(l.default, l.dataType), value)
        if (l.nullable) answer else KnownNotNull(answer)
    }.asInstanceOf[NamedExpression])
    SparkVersions.withExpressions(window, expressions)
  }

  /**
   * The window with a column in the place of every expression that its aggregates read: the
   * optimizer looks after those of a Project, and not into what the operator runs.
   */
  def overColumns(window: Window): (Window, Seq[Alias]) = {
    val inputs = mutable.LinkedHashMap.empty[Expression, Alias]
    def column(e: Expression): Expression =
      if (e.foldable || e.isInstanceOf[Attribute]) e
      else
        inputs
          .getOrElseUpdate(if (e.deterministic) e.canonicalized else e, Alias(e, "input")())
          .toAttribute
    val expressions = window.windowExpressions.map(_.transform {
      case w @ WindowExpression(a: AggregateExpression, _) =>
        val f = a.aggregateFunction
        val over = f.withNewChildren(f.children.map(column)).asInstanceOf[AggregateFunction]
        w.copy(windowFunction = a.copy(aggregateFunction = over, filter = a.filter.map(column)))
    }.asInstanceOf[NamedExpression])
    (SparkVersions.withExpressions(window, expressions), inputs.values.toSeq)
  }

  /** The rows of the frame, which is that of the function. */
  private def count(spec: WindowSpecDefinition): WindowExpression =
    WindowExpression(Count(Seq(Literal(1))).toAggregateExpression(), spec)
}
