package io.sash.spark.slices

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf

/** Chooses whether the events of a table are cut into slices. */
private[slices] final class SliceChoice(conf: SQLConf) {
  import SliceChoice._

  private val isForced = SashConf.slicesAlways(conf)

  /**
   * The reason why events are exchanged one by one, if they are.
   *
   * @param labels the labels as the index reads them
   * @param ends the number of ends that cut time, for each label
   * @param combines whether the events of a slice become one row
   */
  def refusal(
      labels: LogicalPlan,
      events: LogicalPlan,
      ends: Int,
      combines: Boolean
  ): Option[String] =
    SecondReading
      .refusal(labels)
      .orElse(if (isForced) None else cost(labels, events, ends, combines))

  private def cost(
      labels: LogicalPlan,
      events: LogicalPlan,
      ends: Int,
      combines: Boolean
  ): Option[String] = {
    val threshold = conf.getConf(SashConf.LateralFilterThreshold)
    val (ofLabels, ofEvents) = (rowsOf(labels), rowsOf(events))
    val slices = ofLabels * math.max(ends, 1)
    val limit = SashConf.sliceLimit(conf)
    val least = if (combines) LeastEvents * slices else LeastRatio * ofLabels
    if (threshold < 0 || events.stats.sizeInBytes < threshold)
      Some(s"they have fewer bytes than ${SashConf.LateralFilterThreshold.key}")
    else if (!SecondReading.isCheap(labels))
      Some("the labels are the rows of a query that costs more than to read a table")
    else if (slices * SliceBytes > limit)
      Some(s"about $slices slices have more bytes than ${SashConf.LateralSliceLimit.key}")
    else if (ofEvents < least)
      Some(s"there are about $ofEvents of them for about $slices slices")
    else None
  }

  private def rowsOf(plan: LogicalPlan): BigInt = {
    val stats = plan.stats
    stats.rowCount.getOrElse(
      stats.sizeInBytes / EstimationUtils.getSizePerRow(plan.output).max(1)
    )
  }
}

private object SliceChoice {

  /** The least number of events a slice: with fewer, the exchange costs less than slots. */
  private val LeastEvents = 4

  /** The least number of events for each label where events of no label are only left out. */
  private val LeastRatio = 50

  /** Its start, and its share of its key. */
  private val SliceBytes = 16
}
