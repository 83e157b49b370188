package io.sash.spark.lateral

import scala.util.Left

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import io.sash.spark.base.{Filtered, TimeUnit}

/**
 * An as-of join as correlated subqueries: `merge_asof` of the pandas API on Spark, and `ASOF
 * JOIN`, which Spark has since 4.3. Each subquery finds, for a row on the left, the last row
 * before it on the right, or the first row after it.
 *
 * @param steps the subqueries, each a join with the left rows
 * @param over makes the output of the as-of join from the left rows with the subqueries' columns
 */
private[lateral] final case class AsOf(steps: Seq[LateralStep], over: LogicalPlan => LogicalPlan)

private[lateral] object AsOf extends PredicateHelper {

  /** Left, with the reason, if Spark runs the join. */
  def of(join: AsOfJoin): Either[String, AsOf] =
    (splitConjunctivePredicates(join.asOfCondition).head, join.orderExpression) match {
      case (GreaterThan(l, r), _) if isMatch(join, l, r)        => towards(join, Descending)
      case (GreaterThanOrEqual(l, r), _) if isMatch(join, l, r) => towards(join, Descending)
      case (LessThan(l, r), _) if isMatch(join, l, r)           => ahead(join, l)
      case (LessThanOrEqual(l, r), _) if isMatch(join, l, r)    => ahead(join, l)
      case (_, If(GreaterThan(left, right), _, _))              => nearest(join, left, right)
      case (other, _) => Left(s"${other.sql} does not compare the left rows with the right ones")
    }

  /** The join as the user wrote it. */
  def sourceText(join: AsOfJoin): String = {
    val conditions = (join.asOfCondition +: join.condition.toSeq)
      .flatMap(splitConjunctivePredicates)
      .filterNot(_ == TrueLiteral)
      .map(LateralSourceText.condition)
    val nearest = join.orderExpression match {
      case If(GreaterThan(l, r), _, _) =>
        Seq(s"${LateralSourceText(l)} is nearest to ${LateralSourceText(r)}")
      case _ => Nil
    }
    (nearest ++ conditions).mkString("ASOF JOIN (", " AND ", ")")
  }

  /** Whether one expression is over the left rows, and the other over the right rows. */
  private def isMatch(join: AsOfJoin, left: Expression, right: Expression): Boolean =
    left.references.subsetOf(join.left.outputSet) &&
      right.references.subsetOf(join.right.outputSet)

  private def towards(join: AsOfJoin, direction: SortDirection): Either[String, AsOf] =
    search(join, direction, join.asOfCondition, join.right.output)
      .map(query => AsOf(Seq(LateralStep(query, join.joinType, None)), identity))

  /**
   * Finds the first row after. Spark takes the row with the smallest difference instead. For a
   * struct it subtracts field by field, so that this may be another row.
   */
  private def ahead(join: AsOfJoin, left: Expression): Either[String, AsOf] =
    if (isFirstNearest(left.dataType)) towards(join, Ascending)
    else
      Left(
        s"the match condition compares ${left.dataType.sql} values by < or <=, and the row " +
          "with the smallest differences need not be the first one"
      )

  /** Whether the first row after a value is the one with the smallest difference. */
  private def isFirstNearest(of: DataType): Boolean = of match {
    case StructType(fields) =>
      fields.init.forall(f => !f.nullable && isSubtracted(f.dataType)) &&
      fields.lastOption.forall(f => isSingle(f.dataType))
    case other => isSingle(other)
  }

  private def isSingle(of: DataType): Boolean = of match {
    case _: StructType | _: ArrayType => false
    case _                            => true
  }

  private def isSubtracted(of: DataType): Boolean = of match {
    case _: NumericType | TimeUnit(TimeUnit.Day | TimeUnit.Micro) => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType        => true
    case _                                                        => false
  }

  private def search(
      join: AsOfJoin,
      direction: SortDirection,
      asOf: Expression,
      columns: Seq[NamedExpression]
  ): Either[String, CorrelatedAggregate] = {
    val right = join.right.outputSet
    val met = (join.condition.toSeq :+ asOf).reduce(And).transform {
      case a: Attribute if !right.contains(a) => OuterReference(a)
    }
    CorrelatedAggregate.one(direction, Filter(met, join.right), columns)
  }

  /**
   * Finds the row before and the row after, and takes the nearer one; the one before in a tie.
   */
  private def nearest(
      join: AsOfJoin,
      left: Expression,
      right: Expression
  ): Either[String, AsOf] = {
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
    def one(before: Boolean): Either[String, CorrelatedAggregate] = {
      val columns =
        join.right.output.map(a => Alias(a, a.name)()) :+ Alias(TrueLiteral, "found")()
      search(join, if (before) Descending else Ascending, condition(before), columns)
    }
    for {
      before <- one(before = true)
      after <- one(before = false)
    } yield {
      val steps = Seq(before, after).map(LateralStep(_, LeftOuter, None))
      val Seq(ofBefore, ofAfter) = steps.map(_.query.results.map(_.toAttribute))
      AsOf(steps, picked(join, _, ofBefore, ofAfter))
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
    // without a row before, its distance is NULL, so the comparison takes the row after
    val isBefore = Or(Not(isAfter), LessThanOrEqual(distance(ofBefore), distance(ofAfter)))
    val columns = join.right.output.zip(ofBefore.zip(ofAfter)).map { case (a, (b, f)) =>
      Alias(If(isBefore, b, f), a.name)(a.exprId, a.qualifier)
    }
    val kept = if (join.joinType == Inner) Seq(Or(IsNotNull(ofBefore.last), isAfter)) else Nil
    Project(join.left.output ++ columns, Filtered(kept, joined))
  }
}
