package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.Filtered
import io.sash.spark.kinds.OwnBound

/**
 * The conditions of a subquery, sorted by the side that they read.
 *
 * @param keys equalities of an event's value and a label's value
 * @param ranges comparisons of an event's value with a label's value
 * @param ofEvents conditions that read no label
 * @param ofLabel conditions that read no event
 */
private[lateral] final case class SortedConditions(
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
      results = top.results.map(LateralColumns.mapped(_)(e => inTime(rows.over(e), time)))
      having = top.having.map(e => inTime(rows.over(e), time))
      list = top.list.map(of => of.copy(rows.over(of.call).asInstanceOf[AggregateExpression]))
      calls = (results ++ having ++ list.map(_.call)).flatMap(_.collect {
        case c: AggregateExpression => c
      })
      _ <- OneGroup.fault(top.groups.map(rows.over), keys, calls).toLeft(())
      lower <- SeveralEnds.one(ranges.filter(_.isLower), "lower")
      upper <- SeveralEnds.one(ranges.filterNot(_.isLower), "upper")
      _ <- calls.find(SubExprUtils.containsOuter).map(ofOuterRow).toLeft(())
      _ <- (calls ++ ofEvents)
        .find(_.exists(_.isInstanceOf[PythonUDF]))
        .map(e =>
          s"${LateralSourceText(e)} runs in Python; compute it as a column of a table before"
        )
        .toLeft(())
      _ <- (time +: keys.map(_.ofEvents))
        .find(e => !RowOrdering.isOrderable(e.dataType))
        .map(e => s"rows cannot be ordered by ${LateralSourceText(e)}")
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

  /** If ORDER BY … LIMIT 1 is by the range's time alone, the row is the first or last event. */
  private def inTime(e: Expression, time: Expression): Expression = e.transform {
    case FirstByOrder(row, Seq(order)) if SameTime.orderAlike(order.child, time) =>
      if (order.isAscending) First(row, ignoreNulls = false)
      else Last(row, ignoreNulls = false)
  }

  private def ofOuterRow(call: AggregateExpression): String = call.aggregateFunction match {
    case FirstByOrder(_, orders) => ofOuterRow(orders)
    case FirstRows(_, orders, _) => ofOuterRow(orders)
    case _                       => s"${LateralSourceText(call)} reads the outer row"
  }

  private def ofOuterRow(orders: Seq[SortOrder]): String =
    s"ORDER BY ${orders.map(LateralSourceText(_)).mkString(", ")} reads the outer row"
}

private[lateral] object SortedConditions {

  /** One end of a range. */
  final case class End(time: Expression, bound: OwnBound, isLower: Boolean)

  def of(conditions: Seq[Expression]): Either[String, SortedConditions] = {
    val (all, rest) = sorted(conditions)
    rest.headOption.map(other(_, all.ranges)).toLeft(all)
  }

  /** The ends of ranges among any conditions. */
  def ends(conditions: Seq[Expression]): Seq[End] = sorted(conditions)._1.ranges

  /** The conditions that can be sorted, and the rest. */
  private def sorted(conditions: Seq[Expression]): (SortedConditions, Seq[Expression]) = {
    val none = SortedConditions(Nil, Nil, Nil, Nil)
    val all = conditions.flatMap(positive).flatMap(TimeDifference.solved)
    all.foldLeft((none, Seq.empty[Expression])) { case ((sorted, rest), c) =>
      add(sorted, c).fold((sorted, rest :+ c))((_, rest))
    }
  }

  /**
   * Equivalent conditions without NOT around a comparison. With a NULL, both forms leave the row
   * out. With NaN both agree, since Spark orders NaN above all other values.
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

  private def add(to: SortedConditions, c: Expression): Option[SortedConditions] =
    c match {
      case _ if !readsLabel(c)  => Some(to.copy(ofEvents = to.ofEvents :+ c))
      case _ if !readsEvents(c) => Some(to.copy(ofLabel = to.ofLabel :+ label(c)))
      case Sides(events, value, flipped) =>
        def end(isLower: Boolean, isIncluded: Boolean) = Some(
          to.copy(ranges = to.ranges :+ End(events, OwnBound(label(value), isIncluded), isLower))
        )
        c match {
          case _: EqualTo       => equal(to, EqualKeys(events, label(value), isNullSafe = false))
          case _: EqualNullSafe => equal(to, EqualKeys(events, label(value), isNullSafe = true))
          case _: GreaterThanOrEqual => end(isLower = !flipped, isIncluded = true)
          case _: GreaterThan        => end(isLower = !flipped, isIncluded = false)
          case _: LessThanOrEqual    => end(isLower = flipped, isIncluded = true)
          case _: LessThan           => end(isLower = flipped, isIncluded = false)
          case _                     => None
        }
      case _ => None
    }

  private def equal(to: SortedConditions, keys: EqualKeys): Option[SortedConditions] =
    Some(to.copy(keys = to.keys :+ keys))

  /**
   * The reason why a condition cannot be sorted.
   *
   * @param ranges the ends among the other conditions
   */
  private def other(c: Expression, ranges: Seq[End]): String = {
    // a window has one range, so a comparison of another expression cannot become an end
    val mayBeEnd =
      ranges.isEmpty || c.references.subsetOf(
        AttributeSet.fromAttributeSets(ranges.map(_.time.references))
      )
    val advice = c match {
      case _: Or => "; ask each side of OR in a subquery of its own"
      case b: BinaryComparison
          if mayBeEnd && b.children.exists(e => readsLabel(e) && readsEvents(e)) =>
        s"${TimeDifference.advice(c)}; leave the event's column alone on one side of the " +
          "comparison"
      case _ => ""
    }
    s"${LateralSourceText.quoted(c)} is neither an equality of keys nor an end of a range$advice"
  }

  private def label(e: Expression): Expression = SubExprUtils.stripOuterReference(e)

  private def readsLabel(e: Expression): Boolean = SubExprUtils.containsOuter(e)

  private def readsEvents(e: Expression): Boolean = e.exists(_.isInstanceOf[Attribute])

  /** Matches a comparison of an expression over events with one over the label. */
  private object Sides {

    /** Gives the event's expression, the label's, and whether the label's is on the left. */
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
