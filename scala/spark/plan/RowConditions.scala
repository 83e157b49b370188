package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}

/**
 * The conditions of a filter above a window.
 *
 * @param ofRows conditions on the window's input, which the window's operator evaluates
 * @param others all other conditions, in their order
 */
private[plan] final case class RowConditions(ofRows: Seq[Expression], others: Seq[Expression]) {

  /** Puts a filter for the other conditions above the window's operator. */
  def above(plan: SparkPlan): SparkPlan =
    others.reduceOption(And(_, _)).fold(plan)(FilterExec(_, plan))
}

private[plan] object RowConditions extends PredicateHelper {

  /** Plans a filter above a window. `planned` makes the window's operator from its conditions. */
  def planned(condition: Expression, window: Window)(
      planned: Seq[Expression] => Seq[SparkPlan]
  ): Seq[SparkPlan] = {
    val conditions = of(condition, window)
    if (conditions.ofRows.isEmpty) Nil else planned(conditions.ofRows).map(conditions.above)
  }

  private def of(condition: Expression, window: Window): RowConditions = {
    val all = splitConjunctivePredicates(condition)
    val (first, rest) = all.span(isOfRows(window))
    // a random number is drawn for the rows that the conditions before it let through
    val (movable, last) = rest.span(_.deterministic)
    // a condition after one on an answer may rely on that one to prevent an error
    val (early, others) =
      movable.partition(c => isOfRows(window)(c) && WithoutErrors.cannotFail(c))
    RowConditions(first ++ early, others ++ last)
  }

  /** Whether the window's input rows are enough to evaluate the condition. */
  private def isOfRows(window: Window)(condition: Expression): Boolean =
    condition.deterministic && condition.references.subsetOf(window.child.outputSet) &&
      !SubqueryExpression.hasSubquery(condition) && !condition.exists(_.isInstanceOf[PythonUDF])
}
