package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.window.WindowExecBase

/**
 * Replaces an [[OrderingExec]] by Spark's sort if the answers of a window above depend on the
 * order of the step's keys.
 *
 * Rows that tie in a window come in the order in which the operators below give them. In Spark's
 * own plan, a window below passes rows on by key, with sorted keys. An [[OrderingExec]] passes
 * keys on in any order. An exchange in between loses the order, unless its input is known to
 * be one partition when the plan is made.
 */
private[spark] object SeenOrder {

  def apply(plan: SparkPlan): SparkPlan = below(plan, Nil)

  /** Columns of an operator above. It depends on the order of rows that are equal in them. */
  private final case class TieColumns(columns: Seq[Expression]) {
    def and(more: Seq[Expression]): TieColumns = TieColumns(columns ++ more)

    /** Whether rows that tie can have different keys. */
    def areOfSeveral(keys: Seq[Expression]): Boolean =
      !keys.forall(k => columns.exists(_.semanticEquals(k)))
  }

  private def below(plan: SparkPlan, seen: Seq[TieColumns]): SparkPlan = plan match {
    case step: OrderingExec =>
      val byStep = step.partitionSpec ++ step.orderSpec.map(_.child)
      val child = below(step.child, seen.map(_.and(byStep)))
      if (seen.exists(_.areOfSeveral(step.partitionSpec))) sorted(step, child)
      else withChild(step, child)
    case sort: SortExec =>
      withChild(sort, below(sort.child, seen.map(_.and(sort.sortOrder.map(_.child)))))
    case window: KeptOrder =>
      val own = Option.when(window.seesTies)(tiesOf(window.partitionSpec, window.orderSpec))
      val child = below(window.child, seen ++ own)
      (window.child, child) match {
        case (_: OrderingExec, _: SortExec) =>
          OneSort.withReason(window, child, KeptSort.SeenAbove, told = true)
        case _ => withChild(window, child)
      }
    // Spark's window may have a function such as row_number, which sees the order of ties
    case window: WindowExecBase =>
      val own = tiesOf(window.partitionSpec, window.orderSpec)
      withChild(window, below(window.child, seen :+ own))
    case project: ProjectExec =>
      withChild(
        project,
        below(project.child, seen.map(t => TieColumns(columnsBelow(t, project))))
      )
    case filter: FilterExec => withChild(filter, below(filter.child, seen))
    case exchange: Exchange if exchange.child.outputPartitioning.numPartitions != 1 =>
      withChild(exchange, below(exchange.child, Nil))
    // nothing is known of other operators' columns, so that any of their rows may tie
    case other => other.mapChildren(below(_, seen.map(_ => TieColumns(Nil)).distinct))
  }

  private def tiesOf(keys: Seq[Expression], order: Seq[SortOrder]): TieColumns =
    TieColumns(keys ++ order.map(_.child))

  /** The columns below a projection. A column that it computes is replaced by its expression. */
  private def columnsBelow(ties: TieColumns, project: ProjectExec): Seq[Expression] = {
    val computed = project.projectList.collect { case alias: Alias => alias }
    val names = AttributeSet(computed.map(_.toAttribute))
    ties.columns.filterNot(_.references.exists(names.contains)) ++ computed.collect {
      case alias if ties.columns.exists(_.semanticEquals(alias.toAttribute)) => alias.child
    }
  }

  private def withChild(plan: SparkPlan, child: SparkPlan): SparkPlan =
    if (child eq plan.children.head) plan else plan.withNewChildren(Seq(child))

  private def sorted(step: OrderingExec, child: SparkPlan): SparkPlan = {
    val sort = SortExec(step.keyOrder.sorted, global = false, child)
    sort.copyTagsFrom(step)
    sort
  }
}
