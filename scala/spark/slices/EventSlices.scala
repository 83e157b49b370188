package io.sash.spark.slices

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan, Statistics}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/**
 * Events that some label's range holds, combined below the exchange. Output with partials: one or
 * more rows per task and slice, each with the partials, a time in the slice, and the key. Output
 * without partials: these events, and perhaps some events that no range holds.
 *
 * The right child has the labels' keys and ranges, in the columns that [[SliceIndexBuilder]]
 * reads.
 */
private[slices] trait OverSlices[P <: QueryPlan[P]] extends QueryPlan[P] {
  self: P =>

  /** The events. */
  def left: P

  /** The event's key, in columns of `left`. */
  def keys: Seq[Attribute]

  /** The event's time, a BIGINT, in a column of `left`. */
  def time: Attribute

  def partials: Seq[SlicePartial]

  /** The output columns of a slice's time and key; empty without partials. */
  def places: Seq[Attribute]

  /** The columns of the labels' keys and ranges. */
  def ranges: Seq[Attribute]

  /** The greatest size of the index in bytes. */
  def limit: Long

  /** The least number of events per slice, once a task has met many slices. */
  def leastEvents: Double

  /** The estimated number of events in a task. */
  def eventsInTask: Long

  def combines: Boolean = partials.nonEmpty

  override def output: Seq[Attribute] =
    if (combines) partials.flatMap(_.cells) ++ places else left.output

  override def producedAttributes: AttributeSet =
    if (combines) AttributeSet(output ++ partials.flatMap(_.monoid.left)) else AttributeSet.empty
}

private[spark] final case class EventSlices(
    keys: Seq[Attribute],
    time: Attribute,
    partials: Seq[SlicePartial],
    places: Seq[Attribute],
    ranges: Seq[Attribute],
    limit: Long,
    leastEvents: Double,
    eventsInTask: Long,
    left: LogicalPlan,
    right: LogicalPlan
) extends BinaryNode
    with OverSlices[LogicalPlan] {

  override def maxRows: Option[Long] = None

  /** The estimate assumes that nothing is combined. */
  override def stats: Statistics = Statistics(sizeInBytes = left.stats.sizeInBytes)

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): EventSlices = copy(left = newLeft, right = newRight)
}

/** Plans [[EventSlicesExec]]. */
private[spark] object SliceStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case s: EventSlices =>
      Seq(
        EventSlicesExec(
          s.keys,
          s.time,
          s.partials,
          s.places,
          s.ranges,
          s.limit,
          s.leastEvents,
          s.eventsInTask,
          planLater(s.left),
          planLater(s.right)
        )
      )
    case _ => Nil
  }
}
