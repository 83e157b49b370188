package io.sash.spark.windows

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.sash.spark.memory.TaskWindowMemory

/** The operator's SQL metrics; they are counted in plain fields and reported once a task. */
private[spark] final case class WindowMetrics(
    rows: SQLMetric,
    combines: SQLMetric,
    evictions: SQLMetric,
    peakRows: SQLMetric,
    peakMemory: SQLMetric,
    spillSize: SQLMetric
) {

  def report(rowCount: Long, frames: Seq[SlidingFrame], memory: TaskWindowMemory): Unit = {
    rows.add(rowCount)
    combines.add(frames.map(_.operations).sum)
    evictions.add(frames.map(_.evictions).sum)
    if (frames.nonEmpty) peakRows.set(frames.map(_.peakRows).max.toDouble)
    peakMemory.add(memory.peakBytes)
    spillSize.add(memory.spilledBytes)
  }
}

private[spark] object WindowMetrics {
  def create(sc: SparkContext): Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sc, "number of output rows"),
    "combines" -> SQLMetrics.createMetric(sc, "combines"),
    "evictions" -> SQLMetrics.createMetric(sc, "evictions"),
    "peakWindowRows" -> SQLMetrics.createAverageMetric(sc, "peak window rows"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sc, "peak memory"),
    "spillSize" -> SQLMetrics.createSizeMetric(sc, "spill size")
  )

  def of(metrics: Map[String, SQLMetric]): WindowMetrics = WindowMetrics(
    metrics("numOutputRows"),
    metrics("combines"),
    metrics("evictions"),
    metrics("peakWindowRows"),
    metrics("peakMemory"),
    metrics("spillSize")
  )
}
