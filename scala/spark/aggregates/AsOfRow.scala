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
 * Answers that are as of the row that asks. The window computes the partials. A projection above
 * it, which sees the row, computes the answers.
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

  /** A column of a window whose answer is as of the row. */
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
     * The end of the span that the answer covers. It is the row's time, except in two cases.
     * UNBOUNDED FOLLOWING gives NULL, which means the frame's last row. In a RANGE frame over the
     * time itself, the span begins at the frame's lower end. It ends at the frame's upper end or
     * at the row, whichever is later, but at most `span` after it began. So it ends at the row if
     * the frame ends just before the row, and earlier if the frame ends long before the row.
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
