package io.sash.spark.streams.plan

import java.util.{Collections, WeakHashMap}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.base.SashConf

/** Says in the log, once a run of a query, that a batch has dropped many of its rows as late. */
private[plan] object LateRows extends Logging {

  /** A batch with fewer late rows, or with a smaller share of them, is healthy. */
  private val Least = 10L
  private val Share = 10L

  /** The runs that have been warned, as long as their queries live. */
  private val warned = Collections.newSetFromMap(
    Collections.synchronizedMap(new WeakHashMap[Any, java.lang.Boolean])
  )

  /**
   * Warns if a batch has dropped many of its rows.
   *
   * @param run the run of the query
   * @param operator the operator that has dropped rows, above the watermark
   */
  def check(run: Any, operator: SparkPlan, dropped: Long, inTime: Long): Unit = {
    val all = dropped + inTime
    if (dropped >= Least && dropped * Share > all && warned.add(run))
      logWarning(
        s"A batch has dropped $dropped of $all rows as late: the watermark on " +
          s"${timeOf(operator)} had passed their times. If old rows are read from files, read " +
          "the files in the order of their event times, read them in one batch (without " +
          "maxFilesPerTrigger), or give withWatermark a longer delay. This is said once a run " +
          "of the query; numRowsDroppedByWatermark of its progress counts such rows, and " +
          s"${SashConf.StreamLateRowsPath.key} keeps them in a folder"
      )
  }

  /** The names of the columns with a watermark below the operator. */
  private def timeOf(operator: SparkPlan): String = operator
    .collect { case plan =>
      plan.output.filter(_.metadata.contains(EventTimeWatermark.delayKey)).map(_.name)
    }
    .filter(_.nonEmpty)
    .lastOption
    .fold("the event time")(_.mkString(", "))
}
