package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.types.DoubleType

import io.sash.spark.base.SparkVersions
import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.times.KeyDistance

/**
 * Answers that are as of the row that asks. The window has the partials, and a projection above
 * it, which sees that row, the answers.
 */
private[spark] object AsOfRow extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(WINDOW)) {
      case window: Window if window.resolved =>
        val asked = window.windowExpressions.map(e => e -> AskedByRow.of(window, e))
        if (asked.forall(_._2.isEmpty)) window else answered(window, asked)
    }

  private def answered(
      window: Window,
      asked: Seq[(NamedExpression, Option[AskedByRow])]
  ): LogicalPlan = {
    val made = asked.map { case (e, of) => of.fold(e)(_.partial) }
    val columns = asked.map { case (e, of) => of.fold[NamedExpression](e.toAttribute)(_.column) }
    Project(window.child.output ++ columns, SparkVersions.withExpressions(window, made))
  }

  /** A column of a window that is as of its row. */
  private final class AskedByRow(
      window: Window,
      alias: Alias,
      w: WindowExpression,
      call: AggregateExpression,
      kind: AsOfTime,
      arguments: Seq[Expression],
      span: Double
  ) {
    val partial: Alias = {
      val function = AsOfTime.partial(kind, arguments)
      val slid = call.aggregateFunction match {
        case s: SlidingAggregate => s.copy(function = function)
        case _                   => function
      }
      Alias(w.copy(windowFunction = call.copy(aggregateFunction = slid)), alias.name)()
    }

    def column: Alias = Alias(
      AsOfTime.answer(kind, arguments, partial.toAttribute, now),
      alias.name
    )(alias.exprId, alias.qualifier, alias.explicitMetadata)

    private val time = arguments(kind.timePlace(arguments))

    /**
     * The time until which the answer is: the row's, but for a RANGE whose ends are times. There
     * the span begins where the frame does. It ends at the row at the latest, or at the frame's
     * end behind the row. So the same words serve a frame that ends just before its row, whose
     * span ends at the row, and one that ends long before, whose span ends there.
     */
    private def now: Expression = w.windowSpec match {
      case WindowSpecDefinition(
            _,
            Seq(SortOrder(key, Ascending, _, _)),
            SpecifiedWindowFrame(RangeFrame, lower, upper)
          ) if !isSpecial(upper) && written(key).semanticEquals(written(time)) =>
        val last = Greatest(Seq(number(time), shifted(key, upper)))
        if (isSpecial(lower)) last
        else Least(Seq(last, new Add(shifted(key, lower), Literal(span))))
      case WindowSpecDefinition(_, _, SpecifiedWindowFrame(_, _, UnboundedFollowing)) =>
        Literal(null, DoubleType)
      case _ => number(time)
    }

    private def isSpecial(bound: Expression): Boolean = bound.isInstanceOf[SpecialFrameBoundary]

    private def number(time: Expression): Expression = TimeAxis.number(time, kind.name)

    private def shifted(key: Expression, offset: Expression): Expression =
      number(KeyDistance.shifted(key, Ascending, offset, conf.sessionLocalTimeZone))

    /** The expression that the analyzer has put into a column below the window. */
    private def written(e: Expression): Expression = window.child match {
      case Project(list, _) =>
        val values = AttributeMap(list.collect { case a: Alias => a.toAttribute -> a.child })
        e.transform { case a: Attribute => values.getOrElse(a, a) }
      case _ => e
    }
  }

  private object AskedByRow {
    def of(window: Window, e: NamedExpression): Option[AskedByRow] = e match {
      case alias @ Alias(w @ WindowExpression(call: AggregateExpression, _), _) =>
        SlidingAggregate.withoutWindows(call).aggregateFunction match {
          case OwnMonoid(kind: AsOfTime, arguments) =>
            kind.spanOfRow(arguments).map { span =>
              new AskedByRow(window, alias, w, call, kind, arguments, span)
            }
          case _ => None
        }
      case _ => None
    }
  }
}
