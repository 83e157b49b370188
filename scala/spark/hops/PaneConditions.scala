package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._

import io.sash.spark.plan.WithoutErrors

/**
 * Derives conditions on panes from conditions on windows. A pane that fails them is in no window
 * that meets the original conditions.
 *
 * @param window the window's column
 * @param pane the pane of the rows that the derived conditions are asked of
 */
private[hops] final class PaneConditions(window: Attribute, pane: Expression, hops: HopPanes) {

  /**
   * The conditions on a pane that follow from conditions on keys and windows.
   *
   * @param exactly whether they have to hold only for panes of a window that meets the original
   *   conditions. They then cost a row the windows of its pane
   */
  def of(conditions: Seq[Expression], exactly: Boolean): Seq[Expression] = {
    val derived = conditions.flatMap(of(_))
    conditions match {
      case Seq(_: GreaterThan | _: GreaterThanOrEqual | _: LessThan | _: LessThanOrEqual)
          if derived.nonEmpty =>
        derived // a comparison's condition is exact
      case _ if exactly => derived ++ conditions.reduceOption(And).map(ofSomeWindow)
      case _            => derived
    }
  }

  /** The condition that a window of the pane meets the condition. */
  private def ofSomeWindow(condition: Expression): Expression = {
    val each = NamedLambdaVariable(window.name, window.dataType, nullable = false)
    val met = condition.transform { case a: Attribute if a.exprId == window.exprId => each }
    ArrayExists(
      WindowArray(pane, hops, window.dataType),
      LambdaFunction(met, Seq(each)),
      followThreeValuedLogic = true
    )
  }

  /**
   * The conditions on a pane that follow from a condition on keys and windows; Nil if none
   * follows.
   *
   * If any window of a pane begins (or ends) after a value, the pane's last window does. If any
   * begins (or ends) before a value, the pane's first window does.
   */
  private def of(condition: Expression): Seq[Expression] = condition match {
    case GreaterThan(Bound(_), Other()) | GreaterThanOrEqual(Bound(_), Other()) |
        LessThan(Other(), Bound(_)) | LessThanOrEqual(Other(), Bound(_)) =>
      Seq(inWindow(condition, last = true))
    case LessThan(Bound(_), Other()) | LessThanOrEqual(Bound(_), Other()) |
        GreaterThan(Other(), Bound(_)) | GreaterThanOrEqual(Other(), Bound(_)) =>
      Seq(inWindow(condition, last = false))
    case EqualTo(left, right)       => within(left, right, right)
    case EqualNullSafe(left, right) => within(left, right, right)
    case In(bound @ Bound(_), list) if list.nonEmpty =>
      within(bound, least(list), greatest(list))
    case InSet(bound @ Bound(_), values) if values.nonEmpty =>
      val list = values.toSeq.map(Literal(_, bound.dataType))
      within(bound, least(list), greatest(list))
    case And(left, right) => of(left) ++ of(right)
    // an OR may guard an operand against an error, but the derived OR would not
    case Or(left, right) if operands(condition).forall(isPlain) =>
      (of(left).reduceOption(And) zip of(right).reduceOption(And)).map { case (a, b) =>
        Or(a, b)
      }.toSeq
    case _ => Nil
  }

  /** The values with which windows are compared. */
  private def operands(condition: Expression): Seq[Expression] = condition.collect {
    case BinaryComparison(Bound(_), other) => Seq(other)
    case BinaryComparison(other, Bound(_)) => Seq(other)
    case In(Bound(_), list)                => list
  }.flatten

  private def isPlain(e: Expression): Boolean = e match {
    case _: Literal | _: Attribute | Bound(_) => true
    case _                                    => false
  }

  private def within(value: Expression, from: Expression, to: Expression): Seq[Expression] =
    Seq(GreaterThanOrEqual(value, from), LessThanOrEqual(value, to)).flatMap(of)

  private def least(of: Seq[Expression]): Expression = if (of.size == 1) of.head else Least(of)

  private def greatest(of: Seq[Expression]): Expression =
    if (of.size == 1) of.head else Greatest(of)

  /** The condition, applied to the last or the first window that has the pane. */
  private def inWindow(condition: Expression, last: Boolean): Expression = {
    val bounds = Seq(false, true).map(BoundOf(pane, hops, last, _))
    val struct = HopAnswer.struct(bounds, window.dataType)
    condition.transform { case Bound(i) => struct.valExprs(i) }
  }

  /** Matches the start of a window (gives 0) or its end (gives 1). */
  private object Bound {
    def unapply(e: Expression): Option[Int] = e match {
      case GetStructField(a: Attribute, i, _) if a.exprId == window.exprId => Some(i)
      case _                                                               => None
    }
  }

  /** Matches an expression that does not read the window. */
  private object Other {
    def unapply(e: Expression): Boolean = !e.references.contains(window)
  }
}

private[hops] object PaneConditions {

  /** Whether the keys or the aggregates of a row can fail. */
  def canFail(expressions: Seq[Expression]): Boolean = expressions.exists {
    case _: PaneOf => false // Spark, too, makes the windows of all rows
    case e @ (_: Alias | _: AggregateExpression | _: AggregateFunction) => canFail(e.children)
    case e => !WithoutErrors.cannotFail(e)
  }
}
