package io.sash.spark.ordering

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** The SQL metrics of [[OrderingExec]], reported once a task. */
private[spark] final case class OrderMetrics(
    rowsOutOfOrder: SQLMetric,
    keys: SQLMetric,
    keysSorted: SQLMetric,
    tasksSortedBySpark: SQLMetric,
    sortTime: SQLMetric,
    peakMemory: SQLMetric,
    spillSize: SQLMetric
) {

  def report(
      outOfOrder: Long,
      keyCount: Long,
      sorted: Long,
      bySpark: Long,
      sortNanos: Long,
      peakBytes: Long,
      spilledBytes: Long
  ): Unit = {
    rowsOutOfOrder.add(outOfOrder)
    keys.add(keyCount)
    keysSorted.add(sorted)
    tasksSortedBySpark.add(bySpark)
    sortTime.add(sortNanos / 1000000)
    peakMemory.add(peakBytes)
    spillSize.add(spilledBytes)
  }
}

private[spark] object OrderMetrics {
  def create(sc: SparkContext): Map[String, SQLMetric] = Map(
    "rowsOutOfOrder" -> SQLMetrics.createMetric(sc, "rows out of order"),
    "keys" -> SQLMetrics.createMetric(sc, "keys"),
    "keysSorted" -> SQLMetrics.createMetric(sc, "keys sorted"),
    "tasksSortedBySpark" -> SQLMetrics.createMetric(sc, "tasks left to Spark's sort"),
    "sortTime" -> SQLMetrics.createTimingMetric(sc, "sort time"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sc, "peak memory"),
    "spillSize" -> SQLMetrics.createSizeMetric(sc, "spill size")
  )

  def of(metrics: Map[String, SQLMetric]): OrderMetrics = OrderMetrics(
    metrics("rowsOutOfOrder"),
    metrics("keys"),
    metrics("keysSorted"),
    metrics("tasksSortedBySpark"),
    metrics("sortTime"),
    metrics("peakMemory"),
    metrics("spillSize")
  )
}
