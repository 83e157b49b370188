package io.sash.spark.lateral

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.analysis.SQLFunctionNode
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction
}
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * The top of a subquery, above the rows that it aggregates.
 *
 * @param rows the plan of the rows that are aggregated
 * @param results the subquery's columns: over aggregates of `rows`, or over the row of `list`
 * @param having the condition that a row of the subquery exists, likewise
 * @param list the rows of a subquery that may have several
 * @param groups the expressions of GROUP BY, which must be equal for all rows of a label
 */
private[lateral] final case class SubqueryTop(
    rows: LogicalPlan,
    results: Seq[NamedExpression],
    having: Option[Expression],
    list: Option[RowList] = None,
    groups: Seq[Expression] = Nil
) {

  /** Rewrites an expression over `results` to the columns of `rows`. */
  def over(e: Expression): Expression = e.transformUp { case a: Attribute =>
    results.collectFirst { case x: Alias if x.exprId == a.exprId => x.child }.getOrElse(a)
  }
}

/**
 * The rows of a subquery that may have several.
 *
 * @param call the aggregate that collects them into a list of structs
 * @param row the attribute of one element of the list
 */
private[lateral] final case class RowList(call: AggregateExpression, row: Attribute)

private[lateral] object SubqueryTop {

  /** The top of a subquery. Left, with the reason, if the subquery has another shape. */
  def of(plan: LogicalPlan): Either[String, SubqueryTop] = plan match {
    case SubqueryAlias(_, child)   => of(child)
    case SQLFunctionNode(_, child) => of(child)
    case a: Aggregate if a.groupingExpressions.isEmpty =>
      val results = a.aggregateExpressions.map(LateralColumns.mapped(_)(NoEvents.over))
      Right(SubqueryTop(a.child, results, None))
    case a: Aggregate if a.groupingExpressions.forall(_.deterministic) => Right(OneGroup.of(a))
    case Project(list, child) if list.forall(_.deterministic) =>
      of(child).map { below =>
        below.copy(results = list.map {
          case a: Attribute => below.results.find(_.exprId == a.exprId).getOrElse(a)
          case e            => LateralColumns.mapped(e)(below.over)
        })
      }
    case Filter(condition, child) if condition.deterministic =>
      of(child).map { below =>
        below.copy(having = (below.having.toSeq :+ below.over(condition)).reduceOption(And))
      }
    case GlobalLimit(n, LocalLimit(_, sorted)) if n.foldable =>
      first(n.eval().asInstanceOf[Int], sorted)
    case other => Left(fault(other))
  }

  private def fault(plan: LogicalPlan): String = plan match {
    case p if p.expressions.exists(!_.deterministic) => CorrelatedRows.notDeterministic(p)
    case _: Distinct => "DISTINCT makes several rows; write an aggregate, as in collect_set"
    case o: Offset   => skips(o)
    case Project(_, _: Window) | _: Window =>
      "OVER makes a row of each row; aggregate, or write ORDER BY … LIMIT 1"
    case Project(_, below: Project) => fault(below)
    case _ => "it takes the rows as they are; aggregate them, or write ORDER BY … LIMIT 1"
  }

  /** ORDER BY … LIMIT n: the first rows as structs. */
  private def first(n: Int, sorted: LogicalPlan): Either[String, SubqueryTop] = sorted match {
    case Sort(orders, true, child, _) if orders.forall(_.deterministic) =>
      Right(ordered(n, orders, child, child.output))
    case Project(list, Sort(orders, true, child, _))
        if list.forall(_.deterministic) && orders.forall(_.deterministic) =>
      Right(ordered(n, orders, child, list))
    case SubqueryAlias(_, child) => first(n, child)
    case s: Sort                 => Left(fault(s))
    case o: Offset               => Left(skips(o))
    case Project(_, o: Offset)   => Left(skips(o))
    case _ =>
      val any = if (n == 1) "row" else "rows"
      Left(s"LIMIT $n takes any $any; write ORDER BY … LIMIT $n, or aggregate")
  }

  private def skips(o: Offset): String =
    s"OFFSET ${LateralSourceText(o.offsetExpr)} leaves out the first rows; write " +
      s"ORDER BY … LIMIT " +
      "without it"

  private def ordered(
      n: Int,
      orders: Seq[SortOrder],
      rows: LogicalPlan,
      list: Seq[NamedExpression]
  ): SubqueryTop = rows match {
    // Spark computes the columns of SELECT below ORDER BY
    case Project(columns, below)
        if columns.exists(SubExprUtils.containsOuter) && columns.forall(_.deterministic) =>
      val values = AttributeMap(columns.map(c => c.toAttribute -> LateralColumns.value(c)))
      def over(e: Expression) = e.transformUp { case a: Attribute => values.getOrElse(a, a) }
      val by = orders.map(over(_).asInstanceOf[SortOrder])
      ordered(n, by, below, list.map(LateralColumns.mapped(_)(over)))
    case _ if n == 1 => picked(rows, list)(FirstByOrder(_, orders))
    case _           => listed(rows, list)(FirstRows(_, orders, n))
  }

  /**
   * A subquery of one row, or of none if there are no rows.
   *
   * @param aggregate picks one of the rows as a struct
   */
  def picked(rows: LogicalPlan, list: Seq[NamedExpression])(
      aggregate: Expression => AggregateFunction
  ): SubqueryTop = {
    val (row, columns) = structOf(list)
    val call = aggregate(row).toAggregateExpression()
    SubqueryTop(rows, columns(call), Some(IsNotNull(call)))
  }

  /**
   * A subquery of several rows.
   *
   * @param aggregate collects the rows into a list of structs
   */
  private def listed(rows: LogicalPlan, list: Seq[NamedExpression])(
      aggregate: Expression => AggregateFunction
  ): SubqueryTop = {
    val (row, columns) = structOf(list)
    val one = AttributeReference("row", row.dataType)()
    val all = RowList(aggregate(row).toAggregateExpression(), one)
    SubqueryTop(rows, columns(one), None, Some(all))
  }

  /** The struct of a row, and a function from such a struct to the columns. */
  private def structOf(
      list: Seq[NamedExpression]
  ): (Expression, Expression => Seq[NamedExpression]) = {
    // a column that reads the outer row is computed above the window
    val (above, held) = list.partition(SubExprUtils.containsOuter)
    val read = AttributeSet.fromAttributeSets(above.map(_.references)).toSeq
    val fields = (held ++ read).distinctBy(_.exprId) match {
      case Seq() => Seq(Alias(TrueLiteral, "found")())
      case some  => some
    }
    val row = CreateNamedStruct(
      fields.flatMap(e => Seq(Literal(e.name), LateralColumns.value(e)))
    )
    def field(row: Expression, of: NamedExpression): Expression =
      GetStructField(row, fields.indexWhere(_.exprId == of.exprId), Some(of.name))
    def columns(row: Expression) = list.map { e =>
      val value =
        if (held.contains(e)) field(row, e)
        else LateralColumns.value(e).transformUp { case a: Attribute => field(row, a) }
      Alias(value, e.name)(e.exprId, e.qualifier)
    }
    (row, columns)
  }
}
