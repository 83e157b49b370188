package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}

import io.sash.spark.base.{Filtered, TimeUnit}

/**
 * Makes the projections and filters of a plan give NULL instead of an error. A second job that
 * reads the same rows must not fail before the query does, or if the query does not. Conditions
 * of joins still fail.
 */
private[spark] object WithoutErrors extends PredicateHelper {

  def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case p: Project =>
      p.copy(p.projectList.map {
        case a: Alias => a.withNewChildren(Seq(orNull(a.child))).asInstanceOf[Alias]
        case other    => other
      })
    case f: Filter => Filtered(splitConjunctivePredicates(f.condition).map(orNull), f.child)
  }

  def orNull(e: Expression): Expression = if (cannotFail(e)) e else TryEval(e)

  /** Whether no value of the columns makes the expression fail, in ANSI mode either. */
  def cannotFail(e: Expression): Boolean = e match {
    case _: TryEval => true
    case _: Attribute | _: Literal | _: BinaryComparison | _: And | _: Or | _: Not | _: IsNull |
        _: IsNotNull | _: In | _: InSet | _: StringPredicate | _: TaggingExpression =>
      e.children.forall(cannotFail)
    case c @ Cast(child, to, _, _) =>
      // a timestamp holds fewer years than a date
      !TimeUnit.Day.isUnitOf(child.dataType) && Cast.canUpCast(child.dataType, to) &&
      cannotFail(c.child)
    case _ => false
  }
}
