package io.sash.spark.lateral

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{AGGREGATE, OUTER_REFERENCE}

import io.sash.spark.aggregates.{AnswerAsOf, AsOfTime, OwnMonoid, TimeAxis}

/**
 * Aggregates whose answer depends on the current time, in a correlated subquery. Their answer is
 * as of the upper end of the label's range, which is the label's own time in `e.ts < l.ts`. The
 * rule puts the answer, which reads the label, above the aggregation. So it is the same whether a
 * window runs the subquery or Spark does.
 */
private[spark] object AsOfLabel extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsAllPatterns(AGGREGATE, OUTER_REFERENCE)) {
      case groups: Aggregate if groups.resolved && groups.expressions.exists(_.exists(asks)) =>
        CorrelatedRows.of(groups.child).fold(_ => groups, answered(groups, _))
    }

  private def asks(e: Expression): Boolean = e match {
    case OwnMonoid(kind: AsOfTime, arguments) => kind.asksLabel(arguments)
    case _                                    => false
  }

  /** Moves the answers to a projection above, since Spark allows no outer row in an Aggregate. */
  private def answered(groups: Aggregate, rows: CorrelatedRows): LogicalPlan = {
    val ends = SortedConditions.ends(rows.conditions).filterNot(_.isLower)
    val below = mutable.LinkedHashMap.empty[Expression, Alias]
    def column(e: Expression) =
      below.getOrElseUpdate(e.canonicalized, Alias(e, "of_group")()).toAttribute
    def above(e: Expression) = e.transform {
      case g if groups.groupingExpressions.exists(_.semanticEquals(g)) => column(g)
      case call: AggregateExpression =>
        answer(call, rows, ends)(column).getOrElse(column(call))
    }
    val kept = groups.aggregateExpressions.filterNot(_.exists(asks))
    val columns = groups.aggregateExpressions.map { e =>
      if (kept.contains(e)) e.toAttribute else above(e).asInstanceOf[NamedExpression]
    }
    if (columns.exists(_.exists(_.isInstanceOf[AnswerAsOf])))
      Project(columns, groups.copy(aggregateExpressions = kept ++ below.values))
    else groups
  }

  /** The answer as of the upper end of the range of the call's time; none without such an end. */
  private def answer(
      call: AggregateExpression,
      rows: CorrelatedRows,
      ends: Seq[SortedConditions.End]
  )(column: Expression => Attribute): Option[Expression] = call.aggregateFunction match {
    case OwnMonoid(kind: AsOfTime, arguments) if kind.asksLabel(arguments) =>
      val place = kind.timePlace(arguments)
      endOf(rows.over(arguments(place)), ends).map { end =>
        val partial = call.copy(aggregateFunction = AsOfTime.partial(kind, arguments))
        val value = end.transform { case a: Attribute => OuterReference(a) }
        val zone = conf.sessionLocalTimeZone
        val now = TimeAxis.numberOn(arguments(place).dataType, value, kind.name, zone)
        AsOfTime.answer(kind, arguments, column(partial), now)
      }
    case _ => None
  }

  /** The upper end of the range of a time; none without one. */
  private def endOf(time: Expression, ends: Seq[SortedConditions.End]): Option[Expression] = {
    val ofTime = ends.filter(e => bareTime(e.time).semanticEquals(bareTime(time)))
    for {
      same <- SameTime.of(ofTime, conf.sessionLocalTimeZone).toOption
      end <- SeveralEnds.value(same)
    } yield end
  }

  /** The time without the casts by which Spark compares it with a value of another type. */
  private def bareTime(time: Expression): Expression = time match {
    case c: Cast
        if Cast.canUpCast(c.child.dataType, c.dataType) &&
          TimeAxis.has(c.child.dataType, c.dataType) =>
      bareTime(c.child)
    case _ => time
  }
}
