package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.base.Filtered

/**
 * An as-of join of the pandas API on Spark as correlated subqueries. Each one finds, for a row on
 * the left, the last row before it on the right, or the first row after it.
 *
 * @param over makes the join of the left rows with the subqueries' columns
 */
private[labels] final case class AsOf(steps: Seq[LabelStep], over: LogicalPlan => LogicalPlan)

private[labels] object AsOf extends PredicateHelper {

  /** None if Spark runs the join. */
  def of(join: AsOfJoin): Option[AsOf] = join.orderExpression match {
    case If(GreaterThan(left, right), _, _) => nearest(join, left, right)
    case distance =>
      distance.children.headOption.flatMap { first =>
        // the distance is left minus right if the join looks back
        val isAhead = first.references.subsetOf(join.right.outputSet)
        found(join, if (isAhead) Ascending else Descending, join.asOfCondition, join.right.output)
          .map(query => AsOf(Seq(LabelStep(query, join.joinType, None)), identity))
      }
  }

  private def found(
      join: AsOfJoin,
      direction: SortDirection,
      asOf: Expression,
      columns: Seq[NamedExpression]
  ): Option[CorrelatedAggregate] = {
    val right = join.right.outputSet
    val met = (join.condition.toSeq :+ asOf).reduce(And).transform {
      case a: Attribute if !right.contains(a) => OuterReference(a)
    }
    CorrelatedAggregate.one(direction, Filter(met, join.right), columns)
  }

  /** The nearer one of the row before and the row after; of equally near rows the row before. */
  private def nearest(join: AsOfJoin, left: Expression, right: Expression): Option[AsOf] = {
    val (ties, tolerance) = splitConjunctivePredicates(join.asOfCondition)
      .filterNot(_ == TrueLiteral)
      .partition(_.isInstanceOf[Not])
    def condition(before: Boolean): Expression = {
      val side = (before, ties.isEmpty) match {
        case (true, true)   => LessThanOrEqual(right, left)
        case (true, false)  => LessThan(right, left)
        case (false, true)  => GreaterThanOrEqual(right, left)
        case (false, false) => GreaterThan(right, left)
      }
      val within = tolerance.filter {
        case _: GreaterThan | _: GreaterThanOrEqual => before
        case _                                      => !before
      }
      (side +: within).reduce(And)
    }
    def one(before: Boolean): Option[(CorrelatedAggregate, Seq[Alias])] = {
      val columns =
        join.right.output.map(a => Alias(a, a.name)()) :+ Alias(TrueLiteral, "found")()
      found(join, if (before) Descending else Ascending, condition(before), columns)
        .map((_, columns))
    }
    for {
      (before, ofBefore) <- one(before = true)
      (after, ofAfter) <- one(before = false)
    } yield {
      val steps = Seq(before, after).map(LabelStep(_, LeftOuter, None))
      AsOf(steps, picked(join, _, ofBefore.map(_.toAttribute), ofAfter.map(_.toAttribute)))
    }
  }

  private def picked(
      join: AsOfJoin,
      joined: LogicalPlan,
      before: Seq[Attribute],
      after: Seq[Attribute]
  ): LogicalPlan = {
    val nullable = AttributeMap(joined.output.map(a => a -> a))
    val Seq(ofBefore, ofAfter) = Seq(before, after).map(_.map(nullable))
    def distance(to: Seq[Attribute]): Expression = {
      val of = AttributeMap(join.right.output.zip(to))
      join.orderExpression.transform { case a: Attribute => of.getOrElse(a, a) }
    }
    val isAfter = IsNotNull(ofAfter.last)
    // without a row before, the distance is NULL
    val isBefore = Or(Not(isAfter), LessThanOrEqual(distance(ofBefore), distance(ofAfter)))
    val columns = join.right.output.zip(ofBefore.zip(ofAfter)).map { case (a, (b, f)) =>
      Alias(If(isBefore, b, f), a.name)(a.exprId, a.qualifier)
    }
    val kept = if (join.joinType == Inner) Seq(Or(IsNotNull(ofBefore.last), isAfter)) else Nil
    Project(join.left.output ++ columns, Filtered(kept, joined))
  }
}
