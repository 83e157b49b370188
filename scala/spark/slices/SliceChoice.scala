package io.sash.spark.slices

import java.util.Locale

import scala.util.{Left, Right}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf

/**
 * Chooses by estimates whether a table's events are combined, only filtered, or all exchanged.
 */
private[slices] final class SliceChoice(conf: SQLConf) {
  import SliceChoice._

  private val threshold = SashConf.sliceThreshold(conf)

  /** Whether a plan has too few bytes to pay for a job over the labels. */
  def isSmall(plan: LogicalPlan): Boolean = plan.stats.sizeInBytes < threshold

  /**
   * Right(true) if the events of a slice become one row. Right(false) if only events in no range
   * are dropped. Left, with the reason, if all events are exchanged.
   *
   * @param labels the plan through which the index reads the labels
   * @param events all events of the table
   * @param ends the number of ends per label that cut time
   * @param width the size of a combined row over the size of an event's row; none if some
   *   aggregate has no partial
   */
  def combines(
      labels: LogicalPlan,
      events: LogicalPlan,
      ends: Int,
      width: Option[Double]
  ): Either[String, Boolean] =
    SecondReading.refusal(labels) match {
      case Some(why)           => Left(why)
      case _ if threshold == 0 => Right(width.nonEmpty)
      case _                   => cheaper(labels, events, ends, width)
    }

  private def cheaper(
      labels: LogicalPlan,
      events: LogicalPlan,
      ends: Int,
      width: Option[Double]
  ): Either[String, Boolean] = {
    val (ofLabels, ofEvents) = (rowsOf(labels), rowsOf(events))
    val slices = ofLabels * math.max(ends, 1)
    if (!SecondReading.isCheap(labels))
      Left("the labels are the rows of a query that costs more than to read a table")
    else if (labels.stats.sizeInBytes >= conf.defaultSizeInBytes)
      Left("the number of labels is not known")
    else if (slices * SliceBytes > SashConf.sliceLimit(conf))
      Left(s"about ${of(slices)} slices have more bytes than ${SashConf.LateralSliceLimit.key}")
    else if (width.exists(w => areMany(eventsInTask(events), slices, w))) Right(true)
    else if (ofEvents >= ofLabels * LeastRatio) Right(false)
    else Left(s"there are about ${of(ofEvents)} of them for about ${of(slices)} slices")
  }

  /** The estimated number of events in a task. */
  def eventsInTask(events: LogicalPlan): Long =
    (rowsOf(events) / tasks(events)).min(Long.MaxValue).toLong

  private def areMany(events: BigInt, slices: BigInt, width: Double): Boolean =
    BigDecimal(events) >= BigDecimal(slices) * LeastEvents * math.max(width, 1.0)

  private def rowsOf(plan: LogicalPlan): BigInt = {
    val stats = plan.stats
    stats.rowCount.getOrElse(
      stats.sizeInBytes / EstimationUtils.getSizePerRow(plan.output).max(1)
    )
  }

  /** The estimated number of tasks that read a plan, if its tables are files. */
  private def tasks(plan: LogicalPlan): BigInt = {
    val size = plan.collectLeaves().map(_.stats.sizeInBytes).sum
    val ofCore = (size / cores).max(conf.filesOpenCostInBytes)
    size / ofCore.min(conf.filesMaxPartitionBytes).max(1) + 1
  }

  private def cores: Int = conf
    .getConf(SQLConf.LEAF_NODE_DEFAULT_PARALLELISM)
    .orElse(SparkSession.getActiveSession.map(_.sparkContext.defaultParallelism))
    .getOrElse(1)
}

private[slices] object SliceChoice {

  /**
   * The least number of events per slice in one task, if events come in no order. With three,
   * as-of joins took a quarter more CPU than an exchange of all events.
   */
  private val LeastEvents = 4.0

  /** The least number of events per label at which dropping events pays. */
  private val LeastRatio = 50

  /** The bytes of a slice in the index: its start, and its share of its key. */
  private val SliceBytes = 16

  /** Formats a number in groups of three digits. */
  def of(number: BigInt): String = String.format(Locale.ROOT, "%,d", number.bigInteger)
}
