package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{FILTER, UNION, WINDOW}

import io.sash.spark.base.Filtered
import io.sash.spark.kinds.{BoundsWindow, SlidingAggregate}
import io.sash.spark.plan.WindowFilter

/**
 * Moves a condition on the labels below the window that answers them, from where Spark's rules
 * push it to the scan. A label is in no other label's window, so no other answer changes.
 *
 * [[LateralUnion]] makes such plans. The rule still proves for each plan that no window
 * aggregates labels. It leaves a condition on the keys alone to Spark, which pushes it to labels
 * and events.
 */
private[spark] object LabelConditions extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsAllPatterns(FILTER, WINDOW, UNION)) {
      case filter @ Filter(condition, window: Window) =>
        val conditions = splitConjunctivePredicates(condition)
        conditions
          .collect { case EqualTo(source: Attribute, Literal(n: Int, _)) => (source, n) }
          .find { case (source, n) => window.windowExpressions.forall(leavesOut(_, source, n)) }
          .flatMap { case (source, n) => moved(conditions, window, source, n) }
          .getOrElse(filter)
    }

  /** Whether a row from source `n` has no effect on the answers of other rows. */
  private def leavesOut(window: NamedExpression, source: Attribute, n: Int): Boolean =
    window match {
      case Alias(
            WindowExpression(
              AggregateExpression(s: SlidingAggregate, _, _, Some(WindowFilter(condition)), _),
              spec
            ),
            _
          ) =>
        val isOfValues = spec.frameSpecification match {
          case SpecifiedWindowFrame(RangeFrame, _, _) =>
            s.windows.forall(_.isInstanceOf[BoundsWindow])
          case _ => false
        }
        isOfValues && splitConjunctivePredicates(condition).exists {
          case EqualTo(a: Attribute, Literal(other: Int, _)) =>
            a.semanticEquals(source) && other != n
          case _ => false
        }
      case _ => false
    }

  private def moved(
      conditions: Seq[Expression],
      window: Window,
      source: Attribute,
      n: Int
  ): Option[LogicalPlan] = {
    val keys = AttributeSet.fromAttributeSets(window.partitionSpec.map(_.references))
    val (ofLabels, others) = conditions.partition { c =>
      c.deterministic && !SubqueryExpression.hasCorrelatedSubquery(c) &&
      !c.references.contains(source) && !c.references.subsetOf(keys) &&
      c.references.subsetOf(window.child.outputSet)
    }
    window.child match {
      case union: Union if ofLabels.nonEmpty =>
        filtered(union, ofLabels, source, n).map { below =>
          Filtered(others, window.withNewChildren(Seq(below)))
        }
      case _ => None
    }
  }

  /** Filters the union's rows from source `n`; none if the source of some child is unknown. */
  private def filtered(
      union: Union,
      conditions: Seq[Expression],
      source: Attribute,
      n: Int
  ): Option[LogicalPlan] = {
    val at = union.output.indexWhere(_.semanticEquals(source))
    val sources = union.children.map(sourceOf(_, at))
    Option.unless(sources.contains(None)) {
      union.withNewChildren(union.children.zip(sources).map { case (child, of) =>
        if (of.contains(n)) Filtered(conditions.map(over(_, union, child)), child) else child
      })
    }
  }

  private def sourceOf(child: LogicalPlan, at: Int): Option[Int] = child match {
    case Project(list, _) =>
      list.lift(at).collect { case Alias(Literal(n: Int, _), _) => n }
    case Filter(_, below) => sourceOf(below, at)
    case _                => None
  }

  /** The condition over a child's columns. `KnownNotNull` is dropped from non-null columns. */
  private def over(condition: Expression, union: Union, child: LogicalPlan): Expression = {
    val columns = AttributeMap(union.output.zip(child.output))
    condition.transformUp {
      case a: Attribute                              => columns.getOrElse(a, a)
      case KnownNotNull(a: Attribute) if !a.nullable => a
    }
  }
}
