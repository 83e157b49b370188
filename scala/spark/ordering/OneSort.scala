package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ProjectExec, SortExec, SparkPlan}

/**
 * Has the rows below windows sorted by Spark, in the place of an [[OrderingExec]], where that is less
 * work or where an answer could tell:
 *
 *  - a sort above the window, with nothing but windows and projections between, moves
 *    into its place if it puts the keys in order, too. If it sorts by more columns than the
 *    window does, no answer of the windows may depend on the order of rows that tie;
 *  - rows that come from below in an order that serves the window go straight through;
 *  - where another window above sees in which order the keys come ([[SeenOrder]]), Spark's sort
 *    makes that order.
 *
 * Every plan was right before, since a step promises what it gives from the moment it is planned
 * ([[KeyOrder]]). The rule only makes promises stronger, so that nothing which leaned on one can
 * fall; where it does not look, the plan has one sort too many.
 */
private[spark] object OneSort extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = SeenOrder(
    plan
      .transformDown { case sort: SortExec => movedBelow(sort).getOrElse(sort) }
      .transformUp { case window: KeptOrder => withoutStep(window) }
  )

  private def withoutStep(window: KeptOrder): KeptOrder = window.child match {
    case step: OrderingExec if window.order.isGivenBy(step.child) =>
      // over another step, it is that one which EXPLAIN shows
      val isSorted = window.order.isGivenBy(step.child.outputOrdering)
      kept(window, step.child, KeptSort.SortedBelow, told = isSorted)
    case _ => window
  }

  private def movedBelow(sort: SortExec): Option[SparkPlan] =
    sortedBelow(sort.child, sort, seesTies = false)
      .filter(moved => SortOrder.orderingSatisfies(moved.outputOrdering, sort.sortOrder))

  /**
   * The plan with the sort in the place of the step below it, if it serves that one's windows.
   *
   * @param seesTies whether a window between depends on the order of rows that tie
   */
  private def sortedBelow(
      plan: SparkPlan,
      sort: SortExec,
      seesTies: Boolean
  ): Option[SparkPlan] = plan match {
    case step: OrderingExec =>
      step.keyOrder.sortedBy(sort.sortOrder).flatMap { order =>
        val moved = sort.copy(sortOrder = order, child = step.child)
        moved.copyTagsFrom(step) // the logical plan that it stands for, which AQE asks for
        val keepsTies = order.length == step.keyOrder.sorted.length
        val isPossible = order.forall(_.references.subsetOf(step.child.outputSet)) &&
          step.child.outputPartitioning.satisfies(moved.requiredChildDistribution.head)
        Option.when(isPossible && (keepsTies || !seesTies))(moved)
      }
    case window: KeptOrder =>
      sortedBelow(window.child, sort, seesTies || window.seesTies)
        .map(kept(window, _, KeptSort.SortedAbove, told = true))
    case project: ProjectExec if !KeyOrder.computes(project, sort.sortOrder) =>
      sortedBelow(project.child, sort, seesTies).map(c => project.withNewChildren(Seq(c)))
    case _ => None
  }

  private[ordering] def kept(
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
