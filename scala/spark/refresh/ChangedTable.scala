package io.sash.spark.refresh

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}

import io.sash.spark.base.SashErrors

/**
 * A place where a query reads a table whose rows have changed. It replaces the table's plan while
 * the query is taken apart, and never runs.
 */
private[refresh] final case class ChangedTable(name: String, table: LogicalPlan)
    extends LeafNode {
  override def output: Seq[Attribute] = table.output
}

private[refresh] object ChangedTable {
  def isIn(plan: LogicalPlan): Boolean =
    plan.exists(_.isInstanceOf[ChangedTable]) || isInSubquery(plan)

  /** Whether a subquery in an expression of the plan reads a changed table. */
  def isInSubquery(plan: LogicalPlan): Boolean =
    plan.exists(_.subqueries.exists(isIn))

  /** The plan with each `ChangedTable` replaced by its table. */
  def restored(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithSubqueries { case t: ChangedTable => t.table }

  def refuse(why: String): AnalysisException =
    SashErrors.invalidArgument("refreshed", "query", why)
}
