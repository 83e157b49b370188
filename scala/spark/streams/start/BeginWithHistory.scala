package io.sash.spark.streams.start

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.history.History
import io.sash.spark.streams.plan.{OfBuckets, StatefulPlan}
import io.sash.spark.streams.program.WarmStart
import io.sash.spark.streams.task.BucketProcessor

/**
 * Lets the stateful operators above a [[History]] begin with it. An operator that does so already
 * stays the same, since the analyzer applies this until nothing changes.
 */
private[start] object BeginWithHistory {

  /**
   * @param isNew whether the checkpoint is new. If not, no batch reads the history
   */
  def apply(query: LogicalPlan, isNew: Boolean): LogicalPlan =
    if (query.exists(_.isInstanceOf[History])) begun(query, isNew, isRead = false) else query

  /** @param isRead whether an operator above reads the answers of the history's rows */
  private def begun(plan: LogicalPlan, isNew: Boolean, isRead: Boolean): LogicalPlan =
    plan match {
      case OfBuckets(stateful, processor) =>
        val below =
          stateful.mapChildren(begun(_, isNew, isRead = true)).asInstanceOf[TransformWithState]
        untilOf(stateful)
          .map(WarmStart(_, answers = isRead))
          .filterNot(processor.start.contains)
          .fold(below) { history =>
            val begun = processor.startingWith(history)
            val rows = if (isNew) reached(below.child, begun) else below.child
            StatefulPlan.withProcessor(below.copy(child = rows), begun)
          }
      case other => other.mapChildren(begun(_, isNew, isRead))
    }

  /** Leaves out rows of the history that are too old for all windows. */
  private def reached(rows: LogicalPlan, processor: BucketProcessor): LogicalPlan =
    processor.reachesTo.fold(rows) { first =>
      val time = rows.output(processor.time)
      // the operator counts the rows without a time
      Filter(Or(IsNull(time), GreaterThanOrEqual(time, first)), rows)
    }

  private def untilOf(plan: LogicalPlan): Option[Long] =
    plan.collectFirst { case h: History => h.until }
}
