package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.{InnerLike, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.base.Filtered

/**
 * A join of the labels with the answers of a query.
 *
 * @param joinType inner or left
 * @param on the condition of the join, over labels and answers
 */
private[lateral] final case class LateralStep(
    query: CorrelatedAggregate,
    joinType: JoinType,
    on: Option[Expression]
) {
  private val isLeft = joinType == LeftOuter
  private val condition = on.filterNot(_ == TrueLiteral)

  /** The same step, with the query's text for EXPLAIN. */
  def named(text: String): LateralStep = copy(query = query.copy(text = text))

  /**
   * The join of a plan with the query's answers.
   *
   * @param below labels with the answers as columns
   * @param answered replaces an aggregate by its answer's column
   */
  def joined(below: LogicalPlan, answered: Expression => Expression): LogicalPlan = {
    val rows = query.list.fold(below)(listed(_, below, answered))
    val columns = this.columns.map(LateralColumns.mapped(_)(answered))
    val kept = query.having.filterNot(_ => isLeft).map(answered)
    val joined = Project(below.output ++ columns, Filtered(kept.toSeq, rows))
    Filtered(condition.filterNot(_ => isLeft).toSeq, joined)
  }

  /** The query's columns. In a left join, they are NULL if the query has no row. */
  private def columns: Seq[NamedExpression] = {
    val hasRows = if (query.list.isEmpty) met else query.list.map(l => IsNotNull(l.row))
    if (isLeft) query.results.map(LateralColumns.mapped(_)(orNull(hasRows, _))) else query.results
  }

  private def orNull(hasRows: Option[Expression], value: Expression): Expression =
    hasRows.fold(value)(CorrelatedAggregate.orNull(_, value))

  /** The condition that the query's row exists and meets the join condition. */
  private def met: Option[Expression] = {
    val values = AttributeMap(query.results.map(c => c.toAttribute -> LateralColumns.value(c)))
    val met = condition.map(_.transformUp { case a: Attribute => values.getOrElse(a, a) })
    (query.having ++ met).reduceOption(And)
  }

  /** One row of the plan for each row of the query. A left join gives at least one row. */
  private def listed(
      list: RowList,
      below: LogicalPlan,
      answered: Expression => Expression
  ): LogicalPlan = {
    val all = answered(list.call)
    val some = met.filter(_ => isLeft).fold(all) { condition =>
      val row = NamedLambdaVariable(list.row.name, list.row.dataType, nullable = false)
      val isMet = condition.transform { case a: Attribute if a.exprId == list.row.exprId => row }
      ArrayFilter(all, LambdaFunction(answered(isMet), Seq(row)))
    }
    Generate(Explode(some), Nil, outer = isLeft, None, Seq(list.row), below)
  }
}

private[lateral] object LateralStep {

  /** Whether an operator keeps a label without a row of its subquery, with NULL. */
  def keepsAll(operator: LogicalPlan): Boolean = operator match {
    case join: LateralJoin => join.joinType == LeftOuter
    case _                 => true
  }

  /**
   * The reason, if a query is left to Spark where labels without a row of it stay, with NULL. Its
   * columns and its HAVING are then computed for all labels.
   */
  def refusal(query: CorrelatedAggregate): Option[String] = {
    val kept = query.having.toSeq
    def find[T](in: Seq[Expression])(of: PartialFunction[Expression, T]): Option[T] =
      in.flatMap(_.collectFirst(of)).headOption
    if (query.list.isEmpty && kept.isEmpty) None
    else
      find(query.results ++ kept) { case udf: PythonUDF =>
        s"${udf.name} runs in Python, for existing rows alone; call it above the subquery"
      }.orElse(find(kept.filter(_ => query.list.nonEmpty)) { case _: ListQuery =>
        "a filter above LIMIT has IN with a subquery; compute that as a column of a table before"
      })
  }

  /**
   * The reason, if a join is left to Spark. The condition of a left join decides which columns
   * are NULL, so it becomes part of their expressions.
   */
  def refusal(joinType: JoinType, on: Option[Expression]): Option[String] = joinType match {
    case _: InnerLike => None
    case LeftOuter    => on.flatMap(refusal)
    case other        => Some(s"${other.sql} JOIN LATERAL")
  }

  private def refusal(on: Expression): Option[String] = {
    def says(why: String) = Some(
      s"LEFT JOIN LATERAL has the condition ${LateralSourceText(on)}, which $why"
    )
    if (!on.deterministic) says("is not deterministic; join ON true, and test it above")
    else if (on.exists(_.isInstanceOf[PythonUDF]))
      says("runs in Python; compute it as a column before")
    else if (on.exists(_.isInstanceOf[SubqueryExpression]))
      says("has a subquery; compute that as a column before")
    else None
  }
}
