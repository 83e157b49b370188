package io.sash.spark.split

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.SQLMetric

import io.sash.spark.base.{MetricTable, Metrics}
import io.sash.spark.ordering.OrderMetrics
import io.sash.spark.windows.WindowMetrics

/** Counts the own rows of tasks, and the rows that they read for their neighbours. */
private[spark] object NeighbourMetrics extends MetricTable {
  val Tasks = sum("tasks", "tasks with rows of their own")
  val OwnRows = sum("ownRows", "own rows of tasks")
  val NeighbourRows = sum("neighbourRows", "rows read for their neighbours")
}

/**
 * The metrics of `SplitWindowExec`.
 *
 * @param windows the metrics of the last stage's windows
 * @param earlier the metrics of other stages' windows, whose output rows are not the operator's
 */
private[split] final case class SplitMetrics(
    windows: Metrics,
    earlier: Metrics,
    order: Metrics,
    neighbours: Metrics
) {
  def byName: Map[String, SQLMetric] =
    order.byName.filter(_._1 == "sortTime") ++ windows.byName ++ neighbours.byName
}

private[split] object SplitMetrics {
  def create(sc: SparkContext): SplitMetrics = SplitMetrics(
    WindowMetrics.create(sc),
    WindowMetrics.create(sc),
    OrderMetrics.create(sc),
    NeighbourMetrics.create(sc)
  )
}
