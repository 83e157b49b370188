package io.sash.spark.lateral

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * The rows that a subquery aggregates.
 *
 * @param events a plan without references to the outer row
 * @param conditions conditions over the columns of `events`, which may refer to the outer row
 * @param columns the subquery's columns that are computed above `events`
 */
private[lateral] final case class CorrelatedRows(
    events: LogicalPlan,
    conditions: Seq[Expression],
    columns: AttributeMap[Expression]
) {

  /** Rewrites an expression of the subquery to the columns of `events`. */
  def over(e: Expression): Expression = e.transformUp { case a: Attribute =>
    columns.getOrElse(a, a)
  }
}

private[lateral] object CorrelatedRows extends PredicateHelper {

  /**
   * Descends until nothing below refers to the outer row. Left, with the reason, if an operator
   * on the way is neither a projection nor a filter.
   */
  def of(plan: LogicalPlan): Either[String, CorrelatedRows] = plan match {
    case p if !SubExprUtils.hasOuterReferences(p) =>
      Right(CorrelatedRows(p, Nil, AttributeMap.empty))
    case SubqueryAlias(_, child) => of(child)
    case Project(list, child) if list.forall(_.deterministic) =>
      of(child).map { below =>
        below.copy(columns = AttributeMap(list.map {
          case a: Attribute => a -> below.over(a)
          case e            => e.toAttribute -> below.over(e.children.head)
        }))
      }
    case Filter(condition, child) if condition.deterministic =>
      of(child).map { below =>
        val conjuncts = splitConjunctivePredicates(spelled(condition)).map(below.over)
        below.copy(conditions = below.conditions ++ conjuncts)
      }
    case p if p.expressions.exists(!_.deterministic) =>
      Left(notDeterministic(p))
    case other =>
      Left(s"${words(other)} lies above a condition on the outer row${advice(other)}")
  }

  /** The name of an operator in SQL. */
  private def words(plan: LogicalPlan): String = plan match {
    case _: Distinct                    => "DISTINCT"
    case _: Aggregate                   => "GROUP BY or an aggregate"
    case _: Union                       => "UNION"
    case _: Join                        => "JOIN"
    case _: Window                      => "OVER"
    case _: GlobalLimit | _: LocalLimit => "LIMIT"
    case _: Offset                      => "OFFSET"
    case _: Sort                        => "ORDER BY"
    case other                          => other.nodeName
  }

  private def advice(plan: LogicalPlan): String = plan match {
    case _: Distinct => "; write DISTINCT in the aggregate, as in count(DISTINCT …)"
    case _: Union    => "; write the condition once, above UNION"
    case j: Join if j.joinType == Inner && j.condition.exists(SubExprUtils.containsOuter) =>
      "; write the conditions on the outer row in WHERE"
    case _ => ""
  }

  /** Says which expressions of an operator are not deterministic. */
  def notDeterministic(plan: LogicalPlan): String = {
    val random = plan.expressions
      .flatMap(splitConjunctivePredicates)
      .filterNot(_.deterministic)
      .map(LateralSourceText(_))
    s"${random.mkString(", ")} is not deterministic; compute it as a column of a table before"
  }

  /**
   * The condition with each BETWEEN as two comparisons. These come from its `replacement`, since
   * its own parameters may refer to attributes that the analyzer has replaced.
   */
  def spelled(condition: Expression): Expression = condition.transform { case b: Between =>
    b.replacement match {
      case w: With =>
        val values = w.defs.map(d => d.id -> d.child).toMap
        w.child.transform { case ref: CommonExpressionRef => values(ref.id) }
      case comparisons => comparisons
    }
  }
}
