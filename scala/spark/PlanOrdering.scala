package io.sash.spark

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort, Window}
import org.apache.spark.sql.catalyst.plans.physical.RangePartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.{ColumnarRule, SortExec, SparkPlan}
import org.apache.spark.sql.execution.exchange.Exchange

/** Why the rows below a sliding window are sorted by Spark; EXPLAIN shows it. */
sealed abstract class KeptSort(val reason: String)

object KeptSort {
  case object SwitchedOff extends KeptSort(s"${SashConf.OrderingEnabled.key} is false")

  case object NeededAbove
      extends KeptSort("an operator above needs the rows in order of the keys, too")

  case object SortedAbove extends KeptSort("the query sorts within partitions above the window")

  case object Ranges extends KeptSort("the keys are partitioned by range, so they stay in order")

  case object Collated
      extends KeptSort("a key has a collation, by which strings of different bytes can be equal")

  case object NoOrder extends KeptSort("the window has no ORDER BY")

  /** On a SlidingWindowExec. */
  val Tag: TreeNodeTag[KeptSort] = TreeNodeTag("sash.keptSort")

  /** On a logical Window below a sort within partitions, which Spark drops as redundant. */
  private val Below: TreeNodeTag[Unit] = TreeNodeTag("sash.belowSort")

  def noteSort(plan: LogicalPlan): Unit = plan match {
    case sort: Sort if !sort.global =>
      sort.foreach {
        case w: Window => w.setTagValue(Below, ())
        case _         =>
      }
    case _ =>
  }

  def isBelowSort(window: SlidingWindowExec): Boolean =
    window.logicalLink.exists(_.getTagValue(Below).isDefined)
}

/**
 * Puts [[OrderingExec]] in the place of Spark's sort below a sliding window, where no operator
 * above relies on the order of the keys.
 */
object PlanOrdering extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = replaced(plan, needed = false)

  /** @param needed whether an operator above needs the order in which the plan's rows come */
  private def replaced(plan: SparkPlan, needed: Boolean): SparkPlan = plan match {
    case window: SlidingWindowExec if isSorted(window) =>
      val kept = reasonToKeep(window, needed)
      kept.foreach(window.setTagValue(KeptSort.Tag, _))
      if (kept.isDefined) below(window, needed) else ordered(window)
    case other => below(other, needed)
  }

  private def below(plan: SparkPlan, needed: Boolean): SparkPlan = {
    val passesOn = needed && !plan.isInstanceOf[Exchange] && !plan.isInstanceOf[SortExec]
    val children = plan.children.zip(plan.requiredChildOrdering).map { case (child, required) =>
      replaced(child, required.nonEmpty || passesOn)
    }
    val changed = children.zip(plan.children).exists { case (a, b) => !(a eq b) }
    if (changed) plan.withNewChildren(children) else plan
  }

  private def isSorted(window: SlidingWindowExec): Boolean = window.child match {
    case sort: SortExec => !sort.global && sort.sortOrder == window.requiredChildOrdering.head
    case _              => false
  }

  private def reasonToKeep(window: SlidingWindowExec, needed: Boolean): Option[KeptSort] =
    if (!SashConf.orderingEnabled(window.conf)) Some(KeptSort.SwitchedOff)
    else if (window.orderSpec.isEmpty) Some(KeptSort.NoOrder)
    else if (window.partitionSpec.isEmpty) None // then both orders are the same
    else if (!window.partitionSpec.forall(k => UnsafeRowUtils.isBinaryStable(k.dataType)))
      Some(KeptSort.Collated)
    else if (needed) Some(KeptSort.NeededAbove)
    else if (KeptSort.isBelowSort(window)) Some(KeptSort.SortedAbove)
    else if (window.child.outputPartitioning.isInstanceOf[RangePartitioning])
      Some(KeptSort.Ranges)
    else None

  private def ordered(window: SlidingWindowExec): SlidingWindowExec = {
    val input = replaced(window.child.children.head, needed = false)
    val ordering = OrderingExec(window.partitionSpec, window.orderSpec, input)
    window.child.logicalLink.foreach(ordering.setLogicalLink)
    val keyed = window.copy(keyed = true, child = ordering)
    keyed.copyTagsFrom(window)
    keyed
  }
}

/** The rule for plans that are not adaptive, which have no hook of their own for it. */
object PlanOrderingOnce extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = PlanOrdering
}
