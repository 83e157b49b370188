package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.analysis.UnresolvedAlias
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Max}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{
  HIGH_ORDER_FUNCTION,
  TreePattern,
  UNRESOLVED_WINDOW_EXPRESSION
}
import org.apache.spark.sql.types.{DataType, NullType}

/**
 * Wraps a kind until [[ResolvePendingKinds]] has seen its place in the plan. Spark extracts
 * window expressions as soon as they are resolved, and this wrapper is never resolved. A
 * [[PredicateWindow]] has the flag `isPending` instead, because Spark has to bind its lambda.
 */
private[kinds] final case class PendingKind(child: WindowKind)
    extends UnaryExpression
    with Unevaluable {
  override lazy val resolved: Boolean = false
  override def dataType: DataType = NullType
  override def sql: String = child.sql
  override def toString: String = child.toString
  override val nodePatterns: Seq[TreePattern] = Seq(UNRESOLVED_WINDOW_EXPRESSION)

  override protected def withNewChildInternal(newChild: Expression): PendingKind =
    copy(child = newChild.asInstanceOf[WindowKind])
}

/**
 * Unwraps pending kinds, so that Spark can extract their window expressions. Above GROUP BY, a
 * grouping expression in a kind's arguments becomes an aggregate, since it has one value per
 * group.
 */
private[spark] object ResolvePendingKinds extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(
      _.containsAnyPattern(UNRESOLVED_WINDOW_EXPRESSION, HIGH_ORDER_FUNCTION)
    ) {
      case groups: Aggregate => seen(groups, groupedBy(groups))
      case node              => seen(node, Nil)
    }

  private def seen(node: LogicalPlan, groups: Seq[Expression]): LogicalPlan =
    node.transformExpressionsUp {
      case PendingKind(kind) if kind.resolved => seen(kind, groups)
      case p: PredicateWindow if p.isPending && p.isBound =>
        seen(p.copy(isPending = false), groups)
    }

  private def seen(kind: WindowKind, groups: Seq[Expression]): WindowKind = {
    if (kind.exists(_.isInstanceOf[WindowExpression]))
      throw ResolveWindowKinds.misplaced(
        kind,
        "it asks for a window function; name that as a column in a query below, and ask for " +
          "the column"
      )
    if (groups.isEmpty) kind else kind.withInputs(kind.inputs.map(ofGroup(_, groups)))
  }

  /**
   * The grouping expressions that are not columns. If GROUP BY is not resolved yet (an alias,
   * ALL), also the expressions of the select list without an aggregate. CUBE and the like yield
   * none here, since Spark makes columns for their groups.
   */
  private def groupedBy(groups: Aggregate): Seq[Expression] = {
    val said = groups.groupingExpressions
    val named =
      if (said.forall(_.resolved)) Nil
      else
        groups.aggregateExpressions.map {
          case Alias(e, _)           => e
          case UnresolvedAlias(e, _) => e
          case e                     => e
        }
    if (said.exists(_.isInstanceOf[BaseGroupingSets])) Nil
    else
      (said ++ named).filter { e =>
        e.resolved && !e.foldable && !e.isInstanceOf[Attribute] &&
        !e.exists(x => x.isInstanceOf[AggregateExpression] || x.isInstanceOf[WindowExpression])
      }
  }

  /**
   * Replaces a grouping expression by an aggregate with the same value, which Spark then
   * extracts.
   */
  private def ofGroup(argument: Expression, groups: Seq[Expression]): Expression =
    argument match {
      case call: AggregateExpression => call
      case e if groups.exists(_.semanticEquals(e)) =>
        val value =
          if (RowOrdering.isOrderable(e.dataType)) Max(e) else First(e, ignoreNulls = false)
        value.toAggregateExpression()
      case e => e.mapChildren(ofGroup(_, groups))
    }
}
