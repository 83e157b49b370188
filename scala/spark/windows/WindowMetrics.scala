package io.sash.spark.windows

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.sash.spark.base.MetricNames
import io.sash.spark.memory.TaskWindowMemory

/**
 * The operator's SQL metrics, by the names of the fields. A task counts in plain fields and
 * reports once, at its end.
 */
private[spark] final case class WindowMetrics(
    numOutputRows: SQLMetric,
    combines: SQLMetric,
    evictions: SQLMetric,
    peakWindowRows: SQLMetric,
    peakMemory: SQLMetric,
    spillSize: SQLMetric
) {

  def byName: Map[String, SQLMetric] = MetricNames.of(this)

  def report(rowCount: Long, frames: SlidingFrames, memory: TaskWindowMemory): Unit = {
    numOutputRows.add(rowCount)
    combines.add(frames.operations)
    evictions.add(frames.evictions)
    peakWindowRows.set(frames.peakRows.toDouble)
    peakMemory.add(memory.peakBytes)
    spillSize.add(memory.spilledBytes)
  }
}

private[spark] object WindowMetrics {
  def apply(sc: SparkContext): WindowMetrics = WindowMetrics(
    numOutputRows = SQLMetrics.createMetric(sc, "number of output rows"),
    combines = SQLMetrics.createMetric(sc, "combines"),
    evictions = SQLMetrics.createMetric(sc, "evictions"),
    peakWindowRows = SQLMetrics.createAverageMetric(sc, "peak window rows"),
    peakMemory = SQLMetrics.createSizeMetric(sc, "peak memory"),
    spillSize = SQLMetrics.createSizeMetric(sc, "spill size")
  )
}
