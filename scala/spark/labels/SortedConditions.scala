package io.sash.spark.labels

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.Filtered
import io.sash.spark.kinds.OwnBound

/** The conditions of a subquery, sorted by the tables that they read. */
private[labels] final case class SortedConditions(
    keys: Seq[EqualKeys],
    ranges: Seq[SortedConditions.End],
    ofEvents: Seq[Expression],
    ofLabel: Seq[Expression]
) {

  def of(
      rows: CorrelatedRows,
      top: SubqueryTop
  ): Either[String, CorrelatedAggregate] = {
    val (fixed, conditions) = ofEvents.partition(_.exists(_.isInstanceOf[SubqueryExpression]))
    for {
      ranges <- SameTime.of(this.ranges, SQLConf.get.sessionLocalTimeZone)
      time = ranges.head.time
      results = top.results.map(LabelColumns.mapped(_)(e => inTime(rows.over(e), time)))
      having = top.having.map(e => inTime(rows.over(e), time))
      list = top.list.map(of => of.copy(rows.over(of.call).asInstanceOf[AggregateExpression]))
      calls = (results ++ having ++ list.map(_.call)).flatMap(_.collect {
        case c: AggregateExpression => c
      })
      lower <- SeveralEnds.one(ranges.filter(_.isLower), "lower")
      upper <- SeveralEnds.one(ranges.filterNot(_.isLower), "upper")
      _ <- calls.find(SubExprUtils.containsOuter).map(ofOuterRow).toLeft(())
      _ <- (calls ++ ofEvents)
        .find(_.exists(_.isInstanceOf[PythonUDF]))
        .map(e => s"${e.sql} runs in Python")
        .toLeft(())
      _ <- (time +: keys.map(_.ofEvents))
        .find(e => !RowOrdering.isOrderable(e.dataType))
        .map(e => s"rows cannot be ordered by ${e.sql}")
        .toLeft(())
    } yield CorrelatedAggregate(
      Filtered(fixed, rows.events),
      keys,
      time,
      lower,
      upper,
      conditions,
      ofLabel,
      SubExprUtils.stripOuterReferences(results),
      having.map(SubExprUtils.stripOuterReference(_)),
      list
    )
  }

  /** ORDER BY the range's time and nothing else takes the last event, or the first one. */
  private def inTime(e: Expression, time: Expression): Expression = e.transform {
    case f @ FirstByOrder(row, Seq(order)) if SameTime.orderAlike(order.child, time) =>
      val of =
        if (order.isAscending) First(row, ignoreNulls = false)
        else Last(row, ignoreNulls = false)
      of.setTagValue(FirstByOrder.Written, f)
      of
  }

  private def ofOuterRow(call: AggregateExpression): String = call.aggregateFunction match {
    case FirstByOrder(_, orders) => ofOuterRow(orders)
    case FirstRows(_, orders, _) => ofOuterRow(orders)
    case _                       => s"${LabelText(call)} reads the outer row"
  }

  private def ofOuterRow(orders: Seq[SortOrder]): String =
    s"ORDER BY ${orders.map(LabelText(_)).mkString(", ")} reads the outer row"
}

private[labels] object SortedConditions {

  /** One end of a range. */
  final case class End(time: Expression, bound: OwnBound, isLower: Boolean)

  def of(conditions: Seq[Expression]): Either[String, SortedConditions] =
    conditions
      .flatMap(positive)
      .map(TimeDifference.solved)
      .foldLeft[Either[String, SortedConditions]](Right(SortedConditions(Nil, Nil, Nil, Nil)))(
        (sorted, condition) => sorted.flatMap(add(_, condition))
      )

  /**
   * The conditions that together say the same of a row without NOT. A NULL fails either way, and
   * Spark's order has a place for NaN.
   */
  private def positive(c: Expression): Seq[Expression] = c match {
    case And(left, right)              => positive(left) ++ positive(right)
    case Not(Not(of))                  => positive(of)
    case Not(Or(left, right))          => positive(Not(left)) ++ positive(Not(right))
    case Not(LessThan(l, r))           => Seq(GreaterThanOrEqual(l, r))
    case Not(LessThanOrEqual(l, r))    => Seq(GreaterThan(l, r))
    case Not(GreaterThan(l, r))        => Seq(LessThanOrEqual(l, r))
    case Not(GreaterThanOrEqual(l, r)) => Seq(LessThan(l, r))
    case other                         => Seq(other)
  }

  private def add(to: SortedConditions, c: Expression): Either[String, SortedConditions] =
    c match {
      case _ if !readsLabel(c)  => Right(to.copy(ofEvents = to.ofEvents :+ c))
      case _ if !readsEvents(c) => Right(to.copy(ofLabel = to.ofLabel :+ label(c)))
      case Sides(events, value, flipped) =>
        def end(isLower: Boolean, isIncluded: Boolean) = Right(
          to.copy(ranges = to.ranges :+ End(events, OwnBound(label(value), isIncluded), isLower))
        )
        c match {
          case _: EqualTo       => equal(to, EqualKeys(events, label(value), isNullSafe = false))
          case _: EqualNullSafe => equal(to, EqualKeys(events, label(value), isNullSafe = true))
          case _: GreaterThanOrEqual => end(isLower = !flipped, isIncluded = true)
          case _: GreaterThan        => end(isLower = !flipped, isIncluded = false)
          case _: LessThanOrEqual    => end(isLower = flipped, isIncluded = true)
          case _: LessThan           => end(isLower = flipped, isIncluded = false)
          case _                     => other(c)
        }
      case _ => other(c)
    }

  private def equal(to: SortedConditions, keys: EqualKeys): Either[String, SortedConditions] =
    Right(to.copy(keys = to.keys :+ keys))

  private def other(c: Expression): Either[String, SortedConditions] =
    Left(
      s"${LabelText(c)} is neither an equality of keys nor an end of a range" +
        TimeDifference.advice(c)
    )

  private def label(e: Expression): Expression = SubExprUtils.stripOuterReference(e)

  private def readsLabel(e: Expression): Boolean = SubExprUtils.containsOuter(e)

  private def readsEvents(e: Expression): Boolean = e.exists(_.isInstanceOf[Attribute])

  /** A comparison of an expression over events with one over the label. */
  private object Sides {

    /** The expression over events, the value of the label, and whether the value stands left. */
    def unapply(c: Expression): Option[(Expression, Expression, Boolean)] = c match {
      case b: BinaryComparison if isOfEvents(b.left) && isOfLabel(b.right) =>
        Some((b.left, b.right, false))
      case b: BinaryComparison if isOfLabel(b.left) && isOfEvents(b.right) =>
        Some((b.right, b.left, true))
      case _ => None
    }

    private def isOfEvents(e: Expression): Boolean =
      readsEvents(e) && isAlone(e) && !readsLabel(e)

    private def isOfLabel(e: Expression): Boolean = readsLabel(e) && isAlone(e) && !readsEvents(e)

    private def isAlone(e: Expression): Boolean =
      e.deterministic && !e.exists(_.isInstanceOf[SubqueryExpression])
  }
}
