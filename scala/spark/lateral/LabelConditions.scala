package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{FILTER, UNION, WINDOW}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.Filtered
import io.sash.spark.kinds.{BoundsWindow, SlidingAggregate}
import io.sash.spark.plan.{HiddenKeys, WindowFilter}

/**
 * Moves a condition on the labels below the window that answers them, from where Spark's rules
 * push it to the scan. A label is in no other label's window, so no other answer changes.
 *
 * [[LateralUnion]] makes such plans. The rule still proves for each plan that no window
 * aggregates labels. It moves all conditions on labels together, since one may guard the next, as
 * in `l.k <> 0 AND 10 / l.k > 1`. Conditions that compare keys with constants move to the events,
 * too.
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
    val (ofLabels, others) = conditions.partition { c =>
      c.deterministic && !SubqueryExpression.hasCorrelatedSubquery(c) &&
      !c.references.contains(source) && c.references.subsetOf(window.child.outputSet)
    }
    val keys = AttributeSet(window.partitionSpec.map(HiddenKeys.shown).collect {
      case a: Attribute => a
    })
    window.child match {
      case union: Union if ofLabels.nonEmpty =>
        filtered(union, ofLabels, ofLabels.filter(isOfKeys(_, keys)), source, n).map { below =>
          Filtered(others, window.withNewChildren(Seq(below)))
        }
      case _ => None
    }
  }

  /**
   * Whether a condition only compares keys with constants. Such a condition never fails, and all
   * rows with equal keys meet it or none does.
   */
  private def isOfKeys(e: Expression, keys: AttributeSet): Boolean = e match {
    case _: Literal   => true
    case a: Attribute => keys.contains(a) && hasOneForm(a.dataType)
    case _: And | _: Or | _: Not | _: BinaryComparison | _: In | _: InSet | _: IsNull |
        _: IsNotNull | _: StringPredicate =>
      e.children.forall(isOfKeys(_, keys))
    case _ => false
  }

  /** Whether equal values are the same in every condition, unlike 0.0 and -0.0 in IN. */
  private def hasOneForm(dataType: DataType): Boolean = dataType match {
    case FloatType | DoubleType | _: ArrayType | _: StructType => false
    case other => UnsafeRowUtils.isBinaryStable(other)
  }

  /**
   * Filters the union's rows; none if the source of some child is unknown.
   *
   * @param ofLabels the conditions on rows from source `n`
   * @param ofEvents the conditions on other rows
   */
  private def filtered(
      union: Union,
      ofLabels: Seq[Expression],
      ofEvents: Seq[Expression],
      source: Attribute,
      n: Int
  ): Option[LogicalPlan] = {
    val at = union.output.indexWhere(_.semanticEquals(source))
    val sources = union.children.map(sourceOf(_, at))
    Option.unless(sources.contains(None)) {
      union.withNewChildren(union.children.zip(sources).map { case (child, of) =>
        val conditions = if (of.contains(n)) ofLabels else ofEvents
        Filtered(conditions.map(over(_, union, child)), child)
      })
    }
  }

  private def sourceOf(child: LogicalPlan, at: Int): Option[Int] = child match {
    case Project(list, _) =>
      list.lift(at).collect { case Alias(Literal(n: Int, _), _) => n }
    case Filter(_, below) => sourceOf(below, at)
    case local: LocalRelation =>
      Some(local.data.map(_.getInt(at)).distinct).collect { case Seq(n) => n }
    case _ => None
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
