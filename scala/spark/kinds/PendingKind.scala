package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.analysis.UnresolvedAlias
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Max}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{
  HIGH_ORDER_FUNCTION,
  TreePattern,
  UNRESOLVED_ALIAS,
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
 * Unwraps pending kinds, so that Spark can extract their window expressions. Names the columns
 * that ask for them. Above GROUP BY, a grouping expression in a kind's arguments becomes an
 * aggregate, since it has one value per group.
 */
private[spark] object ResolvePendingKinds extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(
      _.containsAnyPattern(UNRESOLVED_WINDOW_EXPRESSION, HIGH_ORDER_FUNCTION, UNRESOLVED_ALIAS)
    ) {
      case groups: Aggregate => unwrapped(groups, groupedBy(groups))
      case node              => unwrapped(node, Nil)
    }

  private def unwrapped(node: LogicalPlan, groups: Seq[Expression]): LogicalPlan = {
    val typed = node.transformExpressionsUp { case w: WindowExpression => nullable(w) }
    val pending = typed.expressions
      .flatMap(_.collect {
        case w: WindowExpression if !isReady(w) => w.windowSpec.partitionSpec
      })
      .flatten
    def isAlone(kind: Expression) = !pending.exists(_ eq kind)
    typed.transformExpressionsUp {
      case p @ PendingKind(kind) if kind.resolved && isAlone(p) => unwrapped(kind, groups)
      case p: PredicateWindow if p.isPending && p.isBound && isAlone(p) =>
        unwrapped(p.copy(isPending = false), groups)
      case column: UnresolvedAlias => KindNames.named(column)
    }
  }

  /**
   * Whether a window is resolved but for its kinds. Kinds wait for that: once the window is
   * resolved, Spark binds the lambdas around it by its nullability, and [[KindNames]] names its
   * column.
   */
  private def isReady(w: WindowExpression): Boolean =
    w.windowFunction.resolved && w.windowSpec.orderSpec.forall(_.resolved) &&
      w.windowSpec.frameSpecification.isInstanceOf[SpecifiedWindowFrame] &&
      w.windowSpec.partitionSpec.forall {
        case _: PendingKind     => true
        case p: PredicateWindow => p.isBound
        case key                => key.resolved
      }

  /** The pending modifiers of a window that make answers NULL. */
  private def modifiers(w: WindowExpression): Seq[PendingKind] =
    w.windowSpec.partitionSpec.collect {
      case p @ PendingKind(_: WindowSlide | _: WindowMinPeriods) => p
    }

  /** The window, whose aggregate is nullable if a modifier in PARTITION BY makes it so. */
  private def nullable(w: WindowExpression): WindowExpression = w.windowFunction match {
    case call: AggregateExpression
        if modifiers(w).nonEmpty && !call.aggregateFunction.isInstanceOf[SlidingAggregate] =>
      w.copy(windowFunction =
        call.copy(aggregateFunction = SlidingAggregate(call.aggregateFunction, Nil))
      )
    case _ => w
  }

  private def unwrapped(kind: WindowKind, groups: Seq[Expression]): WindowKind = {
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
