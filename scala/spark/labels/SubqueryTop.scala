package io.sash.spark.labels

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * The top of a subquery, above the rows that it aggregates.
 *
 * @param results its columns, over the rows, with their aggregates
 * @param having the condition on which the subquery has a row
 */
private[labels] final case class SubqueryTop(
    rows: LogicalPlan,
    results: Seq[NamedExpression],
    having: Option[Expression]
) {

  /** The expression over the rows. */
  def over(e: Expression): Expression = e.transformUp { case a: Attribute =>
    results.collectFirst { case x: Alias if x.exprId == a.exprId => x.child }.getOrElse(a)
  }
}

private[labels] object SubqueryTop {

  /** Left, with the reason, if the subquery may have several rows or is of another shape. */
  def of(plan: LogicalPlan): Either[String, SubqueryTop] = plan match {
    case SubqueryAlias(_, child) => of(child)
    case a: Aggregate if a.groupingExpressions.isEmpty =>
      Right(SubqueryTop(a.child, a.aggregateExpressions, None))
    case Project(list, child) if list.forall(_.deterministic) =>
      of(child).map { below =>
        below.copy(results = list.map {
          case a: Attribute => below.results.find(_.exprId == a.exprId).getOrElse(a)
          case e            => LabelColumns.mapped(e)(below.over)
        })
      }
    case Filter(condition, child) if condition.deterministic =>
      of(child).map { below =>
        below.copy(having = (below.having.toSeq :+ below.over(condition)).reduceOption(And))
      }
    case GlobalLimit(Literal(1, _), LocalLimit(Literal(1, _), sorted)) => one(sorted)
    case other                                                         => Left(fault(other))
  }

  private def fault(plan: LogicalPlan): String = plan match {
    case a: Aggregate =>
      val groups = a.groupingExpressions.map(LabelText(_)).mkString(", ")
      s"GROUP BY $groups makes several rows; count one group by FILTER (WHERE …), or group in " +
        "a query around"
    case GlobalLimit(n, _) =>
      s"LIMIT ${n.sql} takes several rows; write LIMIT 1, or collect values, as in last_n(x, n)"
    case p if p.expressions.exists(!_.deterministic) => CorrelatedRows.notDeterministic(p)
    case _ => "it takes the rows as they are; aggregate them, or write ORDER BY … LIMIT 1"
  }

  /**
   * ORDER BY … LIMIT 1: the first row as a struct. Without a row there is no struct.
   */
  private def one(sorted: LogicalPlan): Either[String, SubqueryTop] = sorted match {
    case Sort(orders, true, child, _) if orders.forall(_.deterministic) =>
      Right(ordered(orders, child, child.output))
    case Project(list, Sort(orders, true, child, _))
        if list.forall(_.deterministic) && orders.forall(_.deterministic) =>
      Right(ordered(orders, child, list))
    case SubqueryAlias(_, child) => one(child)
    case s: Sort                 => Left(fault(s))
    case _ => Left("LIMIT 1 takes any row; write ORDER BY … LIMIT 1, or aggregate")
  }

  private def ordered(
      orders: Seq[SortOrder],
      rows: LogicalPlan,
      list: Seq[NamedExpression]
  ): SubqueryTop = rows match {
    // Spark computes the columns of SELECT below ORDER BY
    case Project(columns, below)
        if columns.exists(SubExprUtils.containsOuter) && columns.forall(_.deterministic) =>
      val values = AttributeMap(columns.map(c => c.toAttribute -> LabelColumns.value(c)))
      def over(e: Expression) = e.transformUp { case a: Attribute => values.getOrElse(a, a) }
      val by = orders.map(over(_).asInstanceOf[SortOrder])
      ordered(by, below, list.map(LabelColumns.mapped(_)(over)))
    case _ => picked(rows, list)(FirstByOrder(_, orders))
  }

  /**
   * The columns of one row.
   *
   * @param aggregate picks one of the rows, each a struct
   */
  def picked(rows: LogicalPlan, list: Seq[NamedExpression])(
      aggregate: Expression => AggregateFunction
  ): SubqueryTop = {
    // a column that reads the outer row is computed above the window
    val (above, held) = list.partition(SubExprUtils.containsOuter)
    val read = AttributeSet.fromAttributeSets(above.map(_.references)).toSeq
    val fields = (held ++ read).distinctBy(_.exprId) match {
      case Seq() => Seq(Alias(TrueLiteral, "found")())
      case some  => some
    }
    val row = CreateNamedStruct(fields.flatMap(e => Seq(Literal(e.name), LabelColumns.value(e))))
    val call = aggregate(row).toAggregateExpression()
    def field(of: NamedExpression): Expression =
      GetStructField(call, fields.indexWhere(_.exprId == of.exprId), Some(of.name))
    val results = list.map { e =>
      val value =
        if (held.contains(e)) field(e)
        else LabelColumns.value(e).transformUp { case a: Attribute => field(a) }
      Alias(value, e.name)(e.exprId, e.qualifier)
    }
    SubqueryTop(rows, results, Some(IsNotNull(call)))
  }
}
