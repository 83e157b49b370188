package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.sash.WithLambda
import org.apache.spark.sql.types._

import io.sash.spark.monoids.{LambdaBodies, OfCurrentRow, Replacement}

/** The condition of a [[PredicateWindow]] on the aggregate of its rows: a lambda. */
private[kinds] trait TotalCondition extends WithLambda { this: PredicateWindow =>
  override def argument: Expression = aggregate
  override def lambda: Expression = condition
  override def lambdaType: DataType = BooleanType

  /** The reason why the condition cannot say where a window begins. */
  protected def conditionFault: Option[String] =
    if (!condition.deterministic || condition.exists(_.isInstanceOf[PythonUDF]))
      Some("its condition has to be deterministic, and without Python")
    else if (function.isInstanceOf[OfCurrentRow])
      Some(s"${function.prettyName} is of one row, and a condition is of the window")
    else if (condition.dataType != BooleanType)
      Some(s"its condition answers a ${condition.dataType.sql}, not a BOOLEAN")
    else if (condition.containsPattern(CURRENT_LIKE))
      Some("its condition looks at the present time, user or catalog; put a constant there")
    else
      condition.references.headOption
        .map(a => s"its condition may look at its argument only, not at ${a.sql}")

  override protected def bindInternal(
      f: (Expression, Seq[(DataType, Boolean)]) => LambdaFunction
  ): HigherOrderFunction =
    copy(condition = f(condition, Seq((aggregate.dataType, true))))

  /** The condition over `total` in place of the lambda's variable. */
  def of(total: Expression): Expression = condition match {
    case LambdaFunction(body, Seq(variable: NamedLambdaVariable), _) =>
      body.transform { case v: NamedLambdaVariable if v.exprId == variable.exprId => total }
    case other => other
  }

  /** Whether the aggregate and the lambda are resolved, even if the kind is still pending. */
  def isBound: Boolean = aggregate.resolved && (condition match {
    case lambda: LambdaFunction => lambda.resolved
    case _                      => false
  })

  def function: AggregateFunction = aggregate.asInstanceOf[AggregateFunction]

  /**
   * Optimizes the lambda and replaces the aggregate as the optimizer would. The optimizer does
   * not reach into a kind.
   */
  def evaluable: PredicateWindow = PredicateWindow(
    Replacement.of(aggregate),
    condition match {
      case lambda: LambdaFunction =>
        lambda.copy(function = LambdaBodies.optimized(lambda.function))
      case other => other
    }
  )
}
