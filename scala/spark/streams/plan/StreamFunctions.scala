package io.sash.spark.streams.plan

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE

import io.sash.spark.base.{NoWatermark, SparkVersions}
import io.sash.spark.windows.PositionFunctions

/**
 * Rewrites window functions that are no aggregates as aggregates, over frames that streams have.
 */
private[spark] object StreamFunctions {

  def asAggregates(window: Window): Window = {
    val expressions = window.windowExpressions
      .map(PositionFunctions.asAggregates(_).asInstanceOf[NamedExpression])
    SparkVersions.withExpressions(window, expressions)
  }

  /**
   * The window with a column in place of each expression that its aggregates read; the columns.
   */
  def overColumns(window: Window): (Window, Seq[Alias]) = {
    val columns = new InputColumns
    val expressions = window.windowExpressions.map(_.transform {
      case w @ WindowExpression(a: AggregateExpression, _) =>
        w.copy(windowFunction = columns.of(a))
    }.asInstanceOf[NamedExpression])
    (SparkVersions.withExpressions(window, expressions), columns.aliases)
  }
}

/**
 * Columns in place of the expressions that aggregates read, since the optimizer rewrites the
 * expressions of a Project, but not the expressions of the operator.
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
