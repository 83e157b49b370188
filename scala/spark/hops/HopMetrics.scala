package io.sash.spark.hops

import io.sash.spark.base.MetricTable

/** The metrics of [[HopWindowsExec]]. */
private[hops] object HopMetrics extends MetricTable {
  val OutputRows = sum("numOutputRows", "number of output rows")
  val Panes = sum("panes", "panes")
  val PeakMemory = bytes("peakMemory", "peak memory")
  val SpillSize = bytes("spillSize", "spill size")
}
