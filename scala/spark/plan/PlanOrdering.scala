package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort, Window}
import org.apache.spark.sql.catalyst.plans.physical.RangePartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.{ColumnarRule, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.window.WindowExec

import io.sash.spark.SashConf
import io.sash.spark.ordering.{KeyedWindowExec, OrderingExec}

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

  /** On the windows over the sort. */
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

  def isBelowSort(window: SparkPlan): Boolean =
    window.logicalLink.exists(_.getTagValue(Below).isDefined)
}

/**
 * Puts [[OrderingExec]] in the place of Spark's sort below a sliding window, where no operator
 * above relies on the order of the keys. Windows of Spark's own over the same sort are fed from
 * it, too.
 */
object PlanOrdering extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = replaced(plan, needed = false)

  /** @param needed whether an operator above needs the order in which the plan's rows come */
  private def replaced(plan: SparkPlan, needed: Boolean): SparkPlan = overSort(plan) match {
    case Some(windows) =>
      val kept = reasonToKeep(windows, needed)
      kept.foreach(reason => windows.foreach(_.setTagValue(KeptSort.Tag, reason)))
      if (kept.isDefined) below(plan, needed) else keyed(plan, windows.head)
    case None => below(plan, needed)
  }

  private def below(plan: SparkPlan, needed: Boolean): SparkPlan = {
    val passesOn = needed && !plan.isInstanceOf[Exchange] && !plan.isInstanceOf[SortExec]
    val children = plan.children.zip(plan.requiredChildOrdering).map { case (child, required) =>
      replaced(child, required.nonEmpty || passesOn)
    }
    val changed = children.zip(plan.children).exists { case (a, b) => !(a eq b) }
    if (changed) plan.withNewChildren(children) else plan
  }

  /**
   * The windows from this one down to the sort that all of them need, with nothing but projections
   * between, if one of them is a sliding window.
   */
  private def overSort(plan: SparkPlan): Option[List[SparkPlan]] = plan match {
    case window @ (_: SlidingWindowExec | _: WindowExec) =>
      windowsTo(window.requiredChildOrdering.head, window)
        .filter(_.exists(_.isInstanceOf[SlidingWindowExec]))
    case _ => None
  }

  private def windowsTo(order: Seq[SortOrder], plan: SparkPlan): Option[List[SparkPlan]] =
    plan match {
      case sort: SortExec       => Option.when(!sort.global && sort.sortOrder == order)(Nil)
      case project: ProjectExec => windowsTo(order, project.child)
      case window @ (_: SlidingWindowExec | _: WindowExec)
          if window.requiredChildOrdering.head == order =>
        windowsTo(order, window.children.head).map(window :: _)
      case _ => None
    }

  private def reasonToKeep(windows: List[SparkPlan], needed: Boolean): Option[KeptSort] = {
    val (partitionSpec, orderSpec) = specOf(windows.head)
    if (!SashConf.orderingEnabled(conf)) Some(KeptSort.SwitchedOff)
    else if (orderSpec.isEmpty) Some(KeptSort.NoOrder)
    else if (partitionSpec.isEmpty) None // then both orders are the same
    else if (!partitionSpec.forall(k => UnsafeRowUtils.isBinaryStable(k.dataType)))
      Some(KeptSort.Collated)
    else if (needed) Some(KeptSort.NeededAbove)
    else if (windows.exists(KeptSort.isBelowSort)) Some(KeptSort.SortedAbove)
    else if (windows.last.children.head.outputPartitioning.isInstanceOf[RangePartitioning])
      Some(KeptSort.Ranges)
    else None
  }

  private def specOf(window: SparkPlan): (Seq[Expression], Seq[SortOrder]) = window match {
    case sliding: SlidingWindowExec => (sliding.partitionSpec, sliding.orderSpec)
    case window: WindowExec         => (window.partitionSpec, window.orderSpec)
  }

  /** The same windows, over rows that come key by key. */
  private def keyed(plan: SparkPlan, top: SparkPlan): SparkPlan = {
    val result = plan match {
      case sliding: SlidingWindowExec =>
        sliding.copy(keyed = true, child = keyed(sliding.child, top))
      case window: WindowExec => KeyedWindowExec(window, keyed(window.child, top))
      case sort: SortExec =>
        val (partitionSpec, orderSpec) = specOf(top)
        OrderingExec(partitionSpec, orderSpec, replaced(sort.child, needed = false))
      case between => between.withNewChildren(between.children.map(keyed(_, top)))
    }
    result.copyTagsFrom(plan)
    result
  }
}

/** The rule for plans that are not adaptive, which have no hook of their own for it. */
object PlanOrderingOnce extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = PlanOrdering
}
