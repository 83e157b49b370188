package io.sash.spark.slices

import java.util.Locale

import scala.util.{Left, Right}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf

/** Chooses by estimates whether the events of a table are combined, left out or exchanged. */
private[slices] final class SliceChoice(conf: SQLConf) {
  import SliceChoice._

  private val threshold = SashConf.sliceThreshold(conf)

  /** Whether a plan has too few bytes for a job over the labels. */
  def isSmall(plan: LogicalPlan): Boolean = plan.stats.sizeInBytes < threshold

  /**
   * Whether the events of a slice become one row, or events of no label are only left out; Left
   * with the reason if all events are exchanged.
   *
   * @param labels the labels as the index reads them
   * @param ends the number of ends that cut time, for each label
   * @param width the size of a combined row over the size of an event's row, if it has partials
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

  /** How many tasks read a plan, if its tables are files. */
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
   * The least number of events a slice in one task, if they lie in no order. With three, as-of
   * joins took a quarter more CPU than an exchange of all events.
   */
  private val LeastEvents = 4.0

  /** The least number of events for each label where events of no label are only left out. */
  private val LeastRatio = 50

  /** Its start, and its share of its key. */
  private val SliceBytes = 16

  /** A number in groups of three digits. */
  def of(number: BigInt): String = String.format(Locale.ROOT, "%,d", number.bigInteger)
}
