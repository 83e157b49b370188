package io.sash.spark.ordering

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.sash.spark.base.MetricNames

/**
 * The SQL metrics of [[OrderingExec]], under the names of the fields, reported once for each
 * task.
 */
private[spark] final case class OrderMetrics(
    rowsOutOfOrder: SQLMetric,
    keys: SQLMetric,
    keysSorted: SQLMetric,
    tasksSortedBySpark: SQLMetric,
    sortTime: SQLMetric,
    peakMemory: SQLMetric,
    spillSize: SQLMetric
) {

  def byName: Map[String, SQLMetric] = MetricNames.of(this)

  def report(counts: OrderCounts, peakBytes: Long): Unit = {
    rowsOutOfOrder.add(counts.outOfOrder)
    keys.add(counts.keys)
    keysSorted.add(counts.keysSorted)
    tasksSortedBySpark.add(counts.bySpark)
    sortTime.add(counts.sortNanos / 1000000)
    peakMemory.add(peakBytes)
    spillSize.add(counts.spilledBytes)
  }
}

private[spark] object OrderMetrics {
  def apply(sc: SparkContext): OrderMetrics = OrderMetrics(
    rowsOutOfOrder = SQLMetrics.createMetric(sc, "rows out of order"),
    keys = SQLMetrics.createMetric(sc, "keys"),
    keysSorted = SQLMetrics.createMetric(sc, "keys sorted"),
    tasksSortedBySpark = SQLMetrics.createMetric(sc, "tasks left to Spark's sort"),
    sortTime = SQLMetrics.createTimingMetric(sc, "sort time"),
    peakMemory = SQLMetrics.createSizeMetric(sc, "peak memory"),
    spillSize = SQLMetrics.createSizeMetric(sc, "spill size")
  )
}
