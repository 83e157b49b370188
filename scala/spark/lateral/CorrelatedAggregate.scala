package io.sash.spark.lateral

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.kinds.OwnBound

/**
 * A correlated subquery that aggregates the events of one label. These are the rows of `events`
 * whose keys equal the label's, and whose time lies between two values of the label.
 *
 * Expressions over the label have plain attributes, without [[OuterReference]].
 *
 * @param keys the pairs of equal expressions
 * @param time the expression over `events` that the range compares
 * @param lower the value of the label at which the range begins; none if it has no beginning
 * @param upper the value of the label at which the range ends; none if it has no end
 * @param ofEvents conditions over `events` alone
 * @param ofLabel conditions over the label alone. A label that does not meet them has no events
 * @param results the subquery's columns, as expressions over aggregates of `events`
 * @param having the condition of HAVING, likewise
 * @param list the rows of a subquery that may have several. Then `results` and `having` are over
 *   one of these rows
 * @param text the subquery as the user wrote it
 */
private[lateral] final case class CorrelatedAggregate(
    events: LogicalPlan,
    keys: Seq[EqualKeys],
    time: Expression,
    lower: Option[OwnBound],
    upper: Option[OwnBound],
    ofEvents: Seq[Expression],
    ofLabel: Seq[Expression],
    results: Seq[NamedExpression],
    having: Option[Expression],
    list: Option[RowList],
    text: String = ""
) {

  /** The aggregates, each once. */
  def calls: Seq[AggregateExpression] =
    (results ++ having ++ list.map(_.call))
      .flatMap(_.collect { case call: AggregateExpression => call })
      .distinctBy(_.canonicalized)

  /** The expressions over the label that decide which events it aggregates. */
  def ofLabels: Seq[Expression] = keys.map(_.ofLabel) ++ (lower ++ upper).map(_.value) ++ ofLabel

  /** The label's columns that `results` and `having` read outside of aggregates. */
  def besideCalls: AttributeSet = {
    def read(e: Expression): Seq[Attribute] = e match {
      case _: AggregateExpression => Nil
      case a: Attribute           => Seq(a)
      case other                  => other.children.flatMap(read)
    }
    AttributeSet((results ++ having).flatMap(read)) -- list.map(_.row)
  }

  /** A value of the label, or NULL if the label does not meet `ofLabel`. */
  def ifApplies(value: Expression): Expression = ofLabel
    .reduceOption(And)
    .fold(value)(CorrelatedAggregate.orNull(_, value))

  /** The keys. A label's value that is computed stands behind `ofLabel`, since it may fail. */
  def guardedKeys: Seq[EqualKeys] = keys.map {
    case of if of.ofLabel.isInstanceOf[Attribute] => of
    case of                                       => of.copy(ofLabel = ifApplies(of.ofLabel))
  }

  /** A value of the subquery's row, or NULL if HAVING drops the row. */
  def orNull(value: Expression): Expression =
    having.fold(value)(CorrelatedAggregate.orNull(_, value))
}

/**
 * An equality of an event's expression and a label's.
 *
 * @param isNullSafe whether NULL equals NULL
 */
private[lateral] final case class EqualKeys(
    ofEvents: Expression,
    ofLabel: Expression,
    isNullSafe: Boolean
)

private[lateral] object CorrelatedAggregate extends PredicateHelper {

  /**
   * The aggregate of a subquery. None if it compares no range with the outer row; Spark runs it
   * as an equi-join. Left, with the reason, if it has another shape.
   */
  def of(subquery: LogicalPlan): Option[Either[String, CorrelatedAggregate]] =
    of(subquery, SubqueryTop.of(subquery))

  /** Likewise, for a subquery of EXISTS or IN. */
  def exists(subquery: LogicalPlan): Option[Either[String, CorrelatedAggregate]] =
    of(subquery, RangeExists.top(subquery))

  /** The reason why Spark runs a subquery that compares no range. */
  def withoutRange(subquery: LogicalPlan): String = {
    val sorted = for {
      top <- SubqueryTop.of(subquery).orElse(RangeExists.top(subquery))
      rows <- CorrelatedRows.of(top.rows)
      sorted <- SortedConditions.of(rows.conditions)
    } yield sorted.keys
    sorted match {
      case Left(why)    => why
      case Right(Seq()) => SameTime.NoRange
      case Right(_)     => s"${SameTime.NoRange}; Spark joins by the equal keys"
    }
  }

  private def of(
      subquery: LogicalPlan,
      top: Either[String, SubqueryTop]
  ): Option[Either[String, CorrelatedAggregate]] = top match {
    case Right(top) =>
      Option.when(hasRange(top.rows)) {
        NestedSubqueries.refusal(subquery).fold(parsed(top))(Left(_))
      }
    case Left(why) => Option.when(hasRange(subquery))(Left(why))
  }

  private def parsed(top: SubqueryTop): Either[String, CorrelatedAggregate] =
    for {
      rows <- CorrelatedRows.of(top.rows)
      sorted <- SortedConditions.of(rows.conditions)
      aggregate <- sorted.of(rows, top)
    } yield aggregate

  /**
   * A query for the first or the last row of a correlated plan.
   *
   * @param direction descending for the last row
   * @param list the columns of the row
   */
  def one(
      direction: SortDirection,
      rows: LogicalPlan,
      list: Seq[NamedExpression]
  ): Either[String, CorrelatedAggregate] = parsed(SubqueryTop.picked(rows, list) { row =>
    if (direction == Descending) Last(row, ignoreNulls = false)
    else First(row, ignoreNulls = false)
  })

  /** Whether some condition compares a range with the outer row. */
  def hasRange(plan: LogicalPlan): Boolean = ranges(plan).nonEmpty

  /** The comparisons that may be ends of a range. */
  def ranges(plan: LogicalPlan): Seq[Expression] =
    plan
      .collect { case p => p.expressions }
      .flatten
      .flatMap(_.collect {
        case b: Between if SubExprUtils.containsOuter(b)                        => b
        case c: BinaryComparison if isRange(c) && SubExprUtils.containsOuter(c) => c
      })

  private def isRange(c: BinaryComparison): Boolean = c match {
    case _: EqualTo | _: EqualNullSafe => false
    case _                             => true
  }

  /** The value if the condition holds, else NULL. */
  def orNull(condition: Expression, value: Expression): Expression =
    If(condition, value, Literal(null, value.dataType))
}
