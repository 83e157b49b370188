package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ProjectExec, SortExec, SparkPlan}

/**
 * Replaces an ordering step ([[OrderingExec]]) by Spark's sort if that is less work, or if an
 * answer depends on the order of keys:
 *
 *  - A sort above the window replaces the step if it sorts by the keys, too. Between them there
 *    may be windows and projections alone. If the sort has more columns than the window, no
 *    answer of the windows may depend on the order of rows that tie.
 *  - A step is removed if the rows below it already come in an order that serves the window.
 *  - If another window above depends on the order of the keys ([[SeenOrder]]), Spark's sort
 *    replaces the step, since it gives that order.
 *
 * The plan is right without this rule, since a step promises its order from the moment it is
 * planned ([[KeyOrder]]). The rule only strengthens such promises, so operators that rely on them
 * stay right. A case that it does not match costs one sort too many.
 */
private[spark] object OneSort extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = SeenOrder(
    plan
      .transformDown { case sort: SortExec => movedBelow(sort).getOrElse(sort) }
      .transformUp { case window: KeptOrder => withoutStep(window) }
  )

  private def withoutStep(window: KeptOrder): KeptOrder = window.child match {
    case step: OrderingExec if window.order.isGivenBy(step.child) =>
      // if another ordering step gives the order, EXPLAIN shows that step instead of a reason
      val isSorted = window.order.isGivenBy(step.child.outputOrdering)
      withReason(window, step.child, KeptSort.SortedBelow, told = isSorted)
    case _ => window
  }

  private def movedBelow(sort: SortExec): Option[SparkPlan] =
    sortedBelow(sort.child, sort, seesTies = false)
      .filter(moved => SortOrder.orderingSatisfies(moved.outputOrdering, sort.sortOrder))

  /**
   * Replaces the ordering step below by `sort`, if `sort` serves the windows of that step.
   *
   * @param seesTies whether a window in between depends on the order of rows that tie
   */
  private def sortedBelow(
      plan: SparkPlan,
      sort: SortExec,
      seesTies: Boolean
  ): Option[SparkPlan] = plan match {
    case step: OrderingExec =>
      step.keyOrder.sortedBy(sort.sortOrder).flatMap { order =>
        val moved = sort.copy(sortOrder = order, child = step.child)
        // AQE asks for the logical plan that the step stands for
        moved.copyTagsFrom(step)
        val keepsTies = order.length == step.keyOrder.sorted.length
        val isPossible = order.forall(_.references.subsetOf(step.child.outputSet)) &&
          step.child.outputPartitioning.satisfies(moved.requiredChildDistribution.head)
        Option.when(isPossible && (keepsTies || !seesTies))(moved)
      }
    case window: KeptOrder =>
      sortedBelow(window.child, sort, seesTies || window.seesTies)
        .map(withReason(window, _, KeptSort.SortedAbove, told = true))
    case project: ProjectExec if !KeyOrder.computes(project, sort.sortOrder) =>
      sortedBelow(project.child, sort, seesTies).map(c => project.withNewChildren(Seq(c)))
    case _ => None
  }

  private[ordering] def withReason(
      window: KeptOrder,
      child: SparkPlan,
      why: KeptSort,
      told: Boolean
  ): KeptOrder = {
    val result = window.withNewChildren(Seq(child)).asInstanceOf[KeptOrder]
    if (told) result.setTagValue(KeptSort.Tag, why)
    result
  }
}
