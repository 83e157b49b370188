package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.analysis.UnresolvedHaving
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{AGGREGATE, HIGH_ORDER_FUNCTION}

/**
 * Undoes a mistake of Spark's analyzer, which may take a list of columns for a global
 * aggregation. While an argument of the aggregate in `predicate_window(percentile(x, 0.5), …)`
 * waits for its cast, Spark takes the call for an ordinary aggregate of the list. Later the call
 * is part of the window. If the list has no other aggregate, the Aggregate node becomes a
 * Project.
 */
private[kinds] object GlobalAggregation {

  /** Marks an Aggregate below HAVING without GROUP BY: it really is a global aggregation. */
  private val Meant: TreeNodeTag[Unit] = TreeNodeTag("sash.meant")

  def undone(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsAllPatterns(AGGREGATE, HIGH_ORDER_FUNCTION)) {
      plan
    } else {
      plan.foreach {
        case UnresolvedHaving(_, a: Aggregate) => a.setTagValue(Meant, ())
        case _                                 => ()
      }
      plan.resolveOperatorsUpWithPruning(_.containsAllPatterns(AGGREGATE, HIGH_ORDER_FUNCTION)) {
        case a: Aggregate if a.groupingExpressions.isEmpty && isMistaken(a) =>
          Project(a.aggregateExpressions, a.child)
      }
    }

  private def isMistaken(a: Aggregate): Boolean = {
    val list = a.aggregateExpressions
    val windowed = list.flatMap(_.collect {
      case WindowExpression(call: AggregateExpression, _)           => call
      case UnresolvedWindowExpression(call: AggregateExpression, _) => call
    })
    def aggregates(e: Expression) = e match {
      case call: AggregateExpression => !windowed.exists(_ eq call)
      case _                         => false
    }
    list.exists(_.exists(_.isInstanceOf[PredicateWindow])) &&
    !list.exists(_.exists(aggregates)) && a.getTagValue(Meant).isEmpty
  }
}
