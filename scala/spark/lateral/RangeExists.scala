package io.sash.spark.lateral

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Count
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.CurrentOrigin

/** EXISTS, and IN as a conjunct of WHERE. Both ask whether a label has any event. */
private[lateral] object RangeExists {

  /** The subquery as an aggregate with one column, `count(1) > 0`. */
  def top(subquery: LogicalPlan): Either[String, SubqueryTop] = subquery match {
    case SubqueryAlias(_, child)                                       => top(child)
    case Project(list, child) if list.forall(_.deterministic)          => top(child)
    case Distinct(child)                                               => top(child)
    case Sort(_, true, child, _)                                       => top(child)
    case GlobalLimit(IntegerLiteral(n), LocalLimit(_, child)) if n > 0 => top(child)
    case rows if hasAggregate(rows) =>
      Left(
        "it asks for rows of an aggregate; compare a scalar subquery, or count groups in LATERAL"
      )
    case rows =>
      val isAny = GreaterThan(Count(Literal(1)).toAggregateExpression(), Literal(0L))
      Right(SubqueryTop(rows, Seq(Alias(isAny, "exists")()), None))
  }

  private def hasAggregate(plan: LogicalPlan): Boolean = plan match {
    case _: Aggregate                 => true
    case _: Filter | _: SubqueryAlias => hasAggregate(plan.children.head)
    case _                            => false
  }

  /**
   * Replaces IN, as a conjunct of WHERE, by EXISTS. WHERE drops a row whether IN is NULL or
   * false, so NULLs make no difference.
   */
  def ofIn(condition: Expression): Expression = condition match {
    case InSubquery(values, query)
        if CorrelatedAggregate.hasRange(query.plan) && values.forall(isOfRow) =>
      val equal = values.zip(query.plan.output).map { case (value, column) =>
        EqualTo(value.transform(outer), column)
      }
      CurrentOrigin.withOrigin(query.plan.origin) {
        Exists(Filter(equal.reduce[Expression](And), query.plan), query.outerAttrs)
      }
    case other => other
  }

  private def isOfRow(value: Expression): Boolean = value.deterministic && !value.exists {
    case _: OuterReference | _: SubqueryExpression => true
    case _                                         => false
  }

  private val outer: PartialFunction[Expression, Expression] = { case a: Attribute =>
    OuterReference(a)
  }
}
