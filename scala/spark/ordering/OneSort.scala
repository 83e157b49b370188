package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{
  ColumnarRule,
  FilterExec,
  ProjectExec,
  SortExec,
  SparkPlan
}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.window.WindowExecBase

import io.sash.spark.plan.SlidingWindowExec

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
      .transformUp { case window: SlidingWindowExec => withoutStep(window) }
  )

  private def withoutStep(window: SlidingWindowExec): SlidingWindowExec = window.child match {
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
    case window: SlidingWindowExec =>
      sortedBelow(window.child, sort, seesTies || window.seesTies)
        .map(kept(window, _, KeptSort.SortedAbove, told = true))
    case project: ProjectExec if !KeyOrder.computes(project, sort.sortOrder) =>
      sortedBelow(project.child, sort, seesTies).map(c => project.withNewChildren(Seq(c)))
    case _ => None
  }

  private[ordering] def kept(
      window: SlidingWindowExec,
      child: SparkPlan,
      why: KeptSort,
      told: Boolean
  ): SlidingWindowExec = {
    val result = window.withNewChildren(Seq(child)).asInstanceOf[SlidingWindowExec]
    if (told) result.setTagValue(KeptSort.Tag, why)
    result
  }
}

/**
 * Puts Spark's sort in the place of an [[OrderingExec]] whose keys come in an order that a window
 * above can tell.
 *
 * Rows that tie under a window arrive in the order in which the operators below hand them on. In
 * Spark's own plan the rows of a window below it arrive by keys; those of an [[OrderingExec]] come in
 * no order of keys. An exchange between loses the order, unless it reads one partition.
 */
private[spark] object SeenOrder {

  def apply(plan: SparkPlan): SparkPlan = below(plan, Nil)

  /** Rows that are equal in these columns are taken, somewhere above, in the order in which they come. */
  private final case class Ties(columns: Seq[Expression]) {
    def and(more: Seq[Expression]): Ties = Ties(columns ++ more)

    /** Whether rows of different keys can be among them. */
    def areOfSeveral(keys: Seq[Expression]): Boolean =
      !keys.forall(k => columns.exists(_.semanticEquals(k)))
  }

  private def below(plan: SparkPlan, seen: Seq[Ties]): SparkPlan = plan match {
    case step: OrderingExec =>
      val byStep = step.partitionSpec ++ step.orderSpec.map(_.child)
      val child = below(step.child, seen.map(_.and(byStep)))
      if (seen.exists(_.areOfSeveral(step.partitionSpec))) sorted(step, child)
      else withChild(step, child)
    case sort: SortExec =>
      withChild(sort, below(sort.child, seen.map(_.and(sort.sortOrder.map(_.child)))))
    case window: SlidingWindowExec =>
      val own = Option.when(window.seesTies)(tiesOf(window.partitionSpec, window.orderSpec))
      val child = below(window.child, seen ++ own)
      (window.child, child) match {
        case (_: OrderingExec, _: SortExec) =>
          OneSort.kept(window, child, KeptSort.SeenAbove, told = true)
        case _ => withChild(window, child)
      }
    // it may rank rows that tie by their place
    case window: WindowExecBase =>
      val own = tiesOf(window.partitionSpec, window.orderSpec)
      withChild(window, below(window.child, seen :+ own))
    case project: ProjectExec =>
      withChild(project, below(project.child, seen.map(t => Ties(columnsBelow(t, project)))))
    case filter: FilterExec => withChild(filter, below(filter.child, seen))
    case exchange: Exchange if exchange.child.outputPartitioning.numPartitions != 1 =>
      withChild(exchange, below(exchange.child, Nil))
    // in whatever order it hands on what it makes of the rows
    case other => other.mapChildren(below(_, seen.map(_ => Ties(Nil)).distinct))
  }

  private def tiesOf(keys: Seq[Expression], order: Seq[SortOrder]): Ties =
    Ties(keys ++ order.map(_.child))

  /** Those of the project's input; of the columns that it computes, what they are made of. */
  private def columnsBelow(ties: Ties, project: ProjectExec): Seq[Expression] = {
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

/** The rule for plans that are not adaptive, which have no hook of their own for it. */
private[spark] object OneSortOnce extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = OneSort
}
