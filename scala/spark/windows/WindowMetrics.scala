package io.sash.spark.windows

import io.sash.spark.base.MetricTable

/** The metrics of the operators that run windows. */
private[spark] object WindowMetrics extends MetricTable {
  val OutputRows = sum("numOutputRows", "number of output rows")
  val Combines = sum("combines", "combines")
  val Evictions = sum("evictions", "evictions")
  val PeakWindowRows = average("peakWindowRows", "peak window rows")
  val PeakMemory = bytes("peakMemory", "peak memory")
  val SpillSize = bytes("spillSize", "spill size")
}
