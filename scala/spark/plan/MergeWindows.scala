package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.CollapseProject
import org.apache.spark.sql.catalyst.plans.logical.{
  LocalRelation,
  LogicalPlan,
  Project,
  SubqueryAlias,
  Window
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW

import io.sash.spark.base.{SashConf, SparkVersions}

/**
 * Merges two Windows with the same keys and order, one above the other, if the upper one reads no
 * answer of the lower one. A chain of `withColumn(…, f.over(w))` makes such Windows. Spark's own
 * CollapseWindow merges them only if nothing lies between them. Here projections may compute the
 * upper window's inputs.
 *
 * A window with functions other than aggregates stays as it is, since Spark prunes rows below a
 * window that has ranks alone.
 */
private[spark] object MergeWindows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(conf)) plan else merged(plan)

  /** The plan with merged windows. Windows over streams are planned before the optimizer runs. */
  def merged(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(WINDOW)) {
      case upper @ WindowOver(above, Below(list, lower @ WindowOver(below, child)))
          if isPlain(above) && isPlain(below) && list.forall(_.deterministic) =>
        merged(upper, list, lower, child).getOrElse(upper)
    }

  /**
   * Matches projections above a window. Gives them as one projection, unless that would compute a
   * costly column twice, and the window.
   */
  private object Below {
    def unapply(plan: LogicalPlan): Option[(Seq[NamedExpression], Window)] = plan match {
      case SubqueryAlias(_, child)                => unapply(child)
      case Project(list, SubqueryAlias(_, child)) => unapply(Project(list, child))
      case Project(list, lower: Window)           => Some((list, lower))
      case Project(list, below @ Project(inner, _)) if inner.forall(_.deterministic) =>
        unapply(below).flatMap { case (under, lower) =>
          val rows = LocalRelation(lower.output)
          CollapseProject(Project(list, Project(under, rows))) match {
            case Project(one, _: LocalRelation) => Some((one, lower))
            case _                              => None
          }
        }
      case _ => None
    }
  }

  /** Matches a window by fields that all versions of Spark have. Gives expressions and child. */
  private object WindowOver {
    def unapply(w: Window): Option[(Seq[NamedExpression], LogicalPlan)] =
      Some((w.windowExpressions, w.child))
  }

  private def isPlain(expressions: Seq[NamedExpression]): Boolean = expressions.forall {
    case Alias(WindowExpression(call: AggregateExpression, _), _) =>
      // Spark has another operator for aggregates in Python
      !call.aggregateFunction.isInstanceOf[PythonFuncExpression]
    case _ => false
  }

  private def merged(
      upper: Window,
      list: Seq[NamedExpression],
      lower: Window,
      child: LogicalPlan
  ): Option[LogicalPlan] = {
    // columns that the Project computes from input rows alone, and columns that read answers
    val (ofRows, others) = list.collect { case a: Alias => a }.partition {
      _.references.subsetOf(child.outputSet)
    }
    val late = AttributeSet(others.map(_.toAttribute)) ++ AttributeSet(
      lower.windowExpressions.map(_.toAttribute)
    )
    val read = AttributeSet.fromAttributeSets(upper.windowExpressions.map(_.references))
    def keys(w: Window) = w.partitionSpec.map(_.canonicalized)
    def order(w: Window) = w.orderSpec.map(_.canonicalized)
    val isOne = keys(upper) == keys(lower) && order(upper) == order(lower)
    Option.when(isOne && read.intersect(late).isEmpty) {
      val inputs = if (ofRows.isEmpty) child else Project(child.output ++ ofRows, child)
      val all = SparkVersions
        .withExpressions(lower, lower.windowExpressions ++ upper.windowExpressions)
        .withNewChildren(Seq(inputs))
      val made = AttributeSet(ofRows.map(_.toAttribute))
      Project(
        list.map {
          case a: Alias if made.contains(a.toAttribute) => a.toAttribute
          case e                                        => e
        } ++ upper.windowExpressions.map(_.toAttribute),
        all
      )
    }
  }
}
