package io.sash.spark.hops

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.sash.spark.memory.TaskWindowMemory

/** The metrics of [[HopWindowsExec]], under the names of these fields. */
private[hops] final case class HopMetrics(
    numOutputRows: SQLMetric,
    panes: SQLMetric,
    peakMemory: SQLMetric,
    spillSize: SQLMetric
) {

  def report(memory: TaskWindowMemory): Unit = {
    peakMemory.add(memory.peakBytes)
    spillSize.add(memory.spilledBytes)
  }
}

private[hops] object HopMetrics {
  def create(sc: SparkContext): HopMetrics = HopMetrics(
    numOutputRows = SQLMetrics.createMetric(sc, "number of output rows"),
    panes = SQLMetrics.createMetric(sc, "panes"),
    peakMemory = SQLMetrics.createSizeMetric(sc, "peak memory"),
    spillSize = SQLMetrics.createSizeMetric(sc, "spill size")
  )
}
