package io.sash.spark.slices

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetric

import io.sash.spark.base.MetricTable
import io.sash.spark.slots.SlotProgram

/** Combines events by slices. The parameters are those of [[EventSlices]]. */
private[spark] final case class EventSlicesExec(
    keys: Seq[Attribute],
    time: Attribute,
    partials: Seq[SlicePartial],
    places: Seq[Attribute],
    ranges: Seq[Attribute],
    limit: Long,
    left: SparkPlan,
    right: SparkPlan
) extends BinaryExecNode
    with OverSlices[SparkPlan] {

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, BroadcastDistribution(SliceMode(keys.map(_.dataType), limit)))

  override def outputPartitioning: Partitioning =
    if (combines) UnknownPartitioning(left.outputPartitioning.numPartitions)
    else left.outputPartitioning

  @transient private lazy val counted = SliceMetrics.create(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = counted.byName

  /** The text for EXPLAIN. */
  def text: String =
    if (combines) "events are combined by slices of the labels before the exchange"
    else "events of no label are not exchanged"

  /** The partials in slots. */
  private def program: SlotProgram = {
    val firsts = partials.scanLeft(0)(_ + _.cells.length)
    val parts = partials.zip(firsts).map { case (p, first) =>
      SlotProgram.Part(first, p.monoid.identity, p.lift, p.monoid.combine)
    }
    SlotProgram(
      left.output,
      partials.flatMap(_.monoid.left),
      partials.flatMap(_.monoid.right),
      parts
    )
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val index = right.executeBroadcast[Array[InternalRow]]()
    val events = left.output
    val at = keys.map(k => events.indexWhere(_.exprId == k.exprId))
    val keyTypes = keys.map(_.dataType)
    val timeAt = events.indexWhere(_.exprId == time.exprId)
    val slots = Option.when(combines)(program)
    val metrics = counted
    val keyColumns = keys
    left.execute().mapPartitions { rows =>
      val Array(table, starts, ofKeys) = index.value.map(_.asInstanceOf[UnsafeRow])
      val find =
        if (SliceIndexBuilder.isNumber(keyTypes)) new FindByNumber(at.head, timeAt)
        else new FindByRow(UnsafeProjection.create(keyColumns, events), keyTypes.length, timeAt)
      find.in(new SliceIndex(table, starts, ofKeys))
      slots.fold[Iterator[InternalRow]](new HeldEvents(rows, find, metrics)) { program =>
        new SliceIterator(rows, find, program, keyTypes, TaskContext.get(), metrics)
      }
    }
  }

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): EventSlicesExec = copy(left = newLeft, right = newRight)
}

/** The metrics of [[EventSlicesExec]]. */
private[slices] object SliceMetrics extends MetricTable {
  val OutputRows: Int = sum("numOutputRows", "number of output rows")
  val Events: Int = sum("events", "events")
  val Dropped: Int = sum("dropped", "events of no label")
  val Slices: Int = sum("slices", "slices with events")
  val Single: Int = sum("single", "events that are not combined")
  val PeakMemory: Int = bytes("peakMemory", "peak memory")
}
