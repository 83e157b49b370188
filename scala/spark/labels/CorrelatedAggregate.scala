package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.kinds.OwnBound

/**
 * A correlated subquery that aggregates the events of one label: the rows of `events` whose keys
 * equal the label's, and whose time lies between two values of the label's.
 *
 * Expressions over the label have plain attributes; [[OuterReference]] is gone.
 *
 * @param keys the pairs of equal expressions
 * @param time the expression over `events` whose range is meant
 * @param lower the value of the label at which the range begins, if it does
 * @param upper the value of the label at which the range ends, if it does
 * @param ofEvents conditions over `events` alone
 * @param ofLabel conditions over the label alone: a label that does not meet them has no events
 * @param results the subquery's columns, over `events`, with their aggregates
 * @param having the condition of HAVING over the same
 */
private[labels] final case class CorrelatedAggregate(
    events: LogicalPlan,
    keys: Seq[EqualKeys],
    time: Expression,
    lower: Option[OwnBound],
    upper: Option[OwnBound],
    ofEvents: Seq[Expression],
    ofLabel: Seq[Expression],
    results: Seq[NamedExpression],
    having: Option[Expression]
) {

  /** The aggregates, each once. */
  def calls: Seq[AggregateExpression] =
    (results ++ having)
      .flatMap(_.collect { case call: AggregateExpression => call })
      .distinctBy(_.canonicalized)

  /** The expressions over the label that say which events are its own. */
  def ofLabels: Seq[Expression] = keys.map(_.ofLabel) ++ (lower ++ upper).map(_.value) ++ ofLabel

  /** The label's columns that stand beside the aggregates, in columns and HAVING. */
  def besideCalls: AttributeSet = {
    def read(e: Expression): Seq[Attribute] = e match {
      case _: AggregateExpression => Nil
      case a: Attribute           => Seq(a)
      case other                  => other.children.flatMap(read)
    }
    AttributeSet((results ++ having).flatMap(read))
  }

  /** A value of the label, or NULL if the label does not meet its conditions. */
  def ifApplies(value: Expression): Expression = ofLabel
    .reduceOption(And)
    .fold(value)(CorrelatedAggregate.orNull(_, value))

  /** A value of the subquery's row, or NULL where HAVING leaves none. */
  def orNull(value: Expression): Expression =
    having.fold(value)(CorrelatedAggregate.orNull(_, value))
}

/**
 * An equality of keys.
 *
 * @param isNullSafe whether NULL equals NULL
 */
private[labels] final case class EqualKeys(
    ofEvents: Expression,
    ofLabel: Expression,
    isNullSafe: Boolean
)

private[labels] object CorrelatedAggregate extends PredicateHelper {

  /**
   * The aggregate of a subquery. None if it compares no range with the row around it, so that
   * Spark joins by equality alone; Left, with the reason, if it is of another shape.
   */
  def of(subquery: LogicalPlan): Option[Either[String, CorrelatedAggregate]] =
    top(subquery).filter(t => hasRange(t.rows)).map(parsed)

  private def parsed(top: Top): Either[String, CorrelatedAggregate] =
    for {
      rows <- CorrelatedRows.of(top.rows)
      sorted <- SortedConditions.of(rows.conditions)
      found <- sorted.of(rows, top)
    } yield found

  /**
   * The last row of a plan over the row around it, or the first.
   *
   * @param direction descending for the last row
   * @param list the columns of the row
   */
  def one(
      direction: SortDirection,
      rows: LogicalPlan,
      list: Seq[NamedExpression]
  ): Either[String, CorrelatedAggregate] = parsed(picked(direction, rows, list))

  /**
   * The top of a subquery, above the rows that it aggregates.
   *
   * @param results its columns, over the rows, with their aggregates
   * @param having the condition on which the subquery has a row
   * @param order the order of the rows, where the aggregate depends on it
   */
  private[labels] final case class Top(
      rows: LogicalPlan,
      results: Seq[NamedExpression],
      having: Option[Expression],
      order: Option[SortOrder] = None
  ) {

    /** The expression over the rows. */
    def over(e: Expression): Expression = e.transformUp { case a: Attribute =>
      results.collectFirst { case x: Alias if x.exprId == a.exprId => x.child }.getOrElse(a)
    }
  }

  private def top(plan: LogicalPlan): Option[Top] = plan match {
    case SubqueryAlias(_, child) => top(child)
    case a: Aggregate if a.groupingExpressions.isEmpty =>
      Some(Top(a.child, a.aggregateExpressions, None))
    case Project(list, child) if list.forall(_.deterministic) =>
      top(child).map { below =>
        below.copy(results = list.map {
          case a: Attribute => below.results.find(_.exprId == a.exprId).getOrElse(a)
          case e            => LabelColumns.mapped(e)(below.over)
        })
      }
    case Filter(condition, child) if condition.deterministic =>
      top(child).map { below =>
        below.copy(having = (below.having.toSeq :+ below.over(condition)).reduceOption(And))
      }
    case GlobalLimit(Literal(1, _), LocalLimit(Literal(1, _), sorted)) => one(sorted)
    case _                                                             => None
  }

  /**
   * ORDER BY time LIMIT 1: the first or the last row as a struct. Without a row there is no
   * struct.
   */
  private def one(sorted: LogicalPlan): Option[Top] = sorted match {
    case Sort(Seq(order), true, child, _) => Some(ordered(order, child, child.output))
    case Project(list, Sort(Seq(order), true, child, _)) if list.forall(_.deterministic) =>
      Some(ordered(order, child, list))
    case SubqueryAlias(_, child) => one(child)
    case _                       => None
  }

  private def ordered(order: SortOrder, rows: LogicalPlan, list: Seq[NamedExpression]): Top =
    rows match {
      // Spark computes the columns of SELECT below ORDER BY
      case Project(columns, below)
          if columns.exists(SubExprUtils.containsOuter) && columns.forall(_.deterministic) =>
        val values = AttributeMap(columns.map(c => c.toAttribute -> LabelColumns.value(c)))
        def over(e: Expression) = e.transformUp { case a: Attribute => values.getOrElse(a, a) }
        val by = order.copy(child = over(order.child))
        ordered(by, below, list.map(LabelColumns.mapped(_)(over)))
      case _ => picked(order.direction, rows, list).copy(order = Some(order))
    }

  private def picked(
      direction: SortDirection,
      rows: LogicalPlan,
      list: Seq[NamedExpression]
  ): Top = {
    // a column that reads the outer row is computed above the window
    val (above, held) = list.partition(SubExprUtils.containsOuter)
    val read = AttributeSet.fromAttributeSets(above.map(_.references)).toSeq
    val fields = (held ++ read).distinctBy(_.exprId) match {
      case Seq() => Seq(Alias(TrueLiteral, "found")())
      case some  => some
    }
    val row = CreateNamedStruct(fields.flatMap(e => Seq(Literal(e.name), LabelColumns.value(e))))
    val picked =
      if (direction == Descending) Last(row, ignoreNulls = false)
      else First(row, ignoreNulls = false)
    val call = picked.toAggregateExpression()
    def field(of: NamedExpression): Expression =
      GetStructField(call, fields.indexWhere(_.exprId == of.exprId), Some(of.name))
    val results = list.map { e =>
      val value =
        if (held.contains(e)) field(e)
        else LabelColumns.value(e).transformUp { case a: Attribute => field(a) }
      Alias(value, e.name)(e.exprId, e.qualifier)
    }
    Top(rows, results, Some(IsNotNull(call)))
  }

  private def hasRange(plan: LogicalPlan): Boolean = plan.exists(_.expressions.exists(_.exists {
    case b: Between          => SubExprUtils.containsOuter(b)
    case c: BinaryComparison => isRange(c) && SubExprUtils.containsOuter(c)
    case _                   => false
  }))

  private def isRange(c: BinaryComparison): Boolean = c match {
    case _: EqualTo | _: EqualNullSafe => false
    case _                             => true
  }

  /** The value where the condition holds, else NULL. */
  private def orNull(condition: Expression, value: Expression): Expression =
    If(condition, value, Literal(null, value.dataType))
}
