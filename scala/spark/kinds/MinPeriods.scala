package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction,
  Count,
  ListAgg
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Window}

import io.sash.spark.base.SparkVersions
import io.sash.spark.monoids.WrittenMonoid

/**
 * Windows with a [[WindowMinPeriods]]. A second aggregate counts the rows that have all arguments
 * of the first one, and a projection above compares the count.
 */
private[kinds] object MinPeriods {

  /** The plan without the modifier; the same plan if no window has it. */
  def compared(window: Window): LogicalPlan = {
    val parts = window.windowExpressions.map(e => e -> Limited.of(e))
    if (parts.forall(_._2.isEmpty)) window
    else {
      val made = parts.flatMap { case (e, limited) =>
        limited.fold(Seq(e))(l => Seq(l.answer, l.count))
      }
      val columns = parts.map { case (e, limited) =>
        limited.fold[NamedExpression](e.toAttribute)(_.column)
      }
      Project(window.child.output ++ columns, SparkVersions.withExpressions(window, made))
    }
  }

  /** The arguments of an aggregate that can be NULL. The delimiter of a list is none of them. */
  def valuesOf(function: AggregateFunction): Seq[Expression] = {
    val arguments = function match {
      case list: ListAgg         => list.child +: list.orderExpressions
      case monoid: WrittenMonoid => monoid.needed
      case other                 => other.children
    }
    arguments
      .map {
        case order: SortOrder => order.child
        case e                => e
      }
      .filter(e => !e.foldable || e.eval() == null)
  }

  /** A column that is NULL unless the count is great enough. */
  private final class Limited(
      alias: Alias,
      w: WindowExpression,
      s: SlidingAggregate,
      min: WindowMinPeriods
  ) {
    private def call = w.windowFunction.asInstanceOf[AggregateExpression]

    private def over(function: AggregateFunction, isDistinct: Boolean) = {
      val others = s.windows.filterNot(_ eq min)
      val of = if (others.isEmpty) function else SlidingAggregate(function, others)
      w.copy(windowFunction = call.copy(aggregateFunction = of, isDistinct = isDistinct))
    }

    val answer: Alias = Alias(over(s.function, call.isDistinct), alias.name)()
    val count: Alias = {
      val rows = Count(if (min.values.isEmpty) Seq(Literal(1)) else min.values)
      Alias(over(rows, isDistinct = false), s"${alias.name} count")()
    }

    def column: Alias = Alias(
      If(
        GreaterThanOrEqual(count.toAttribute, Literal(min.least.toLong)),
        answer.toAttribute,
        Literal.create(null, answer.dataType)
      ),
      alias.name
    )(alias.exprId, alias.qualifier, alias.explicitMetadata)
  }

  private object Limited {
    def of(e: NamedExpression): Option[Limited] = e match {
      case alias @ Alias(
            w @ WindowExpression(AggregateExpression(s: SlidingAggregate, _, _, _, _), _),
            _
          ) =>
        s.minPeriods.map(new Limited(alias, w, s, _))
      case _ => None
    }
  }
}
