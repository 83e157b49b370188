package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.base.{TaskCounts, MetricTable}

/** The metrics of [[OrderingExec]]. */
private[spark] object OrderMetrics extends MetricTable {
  val RowsOutOfOrder = sum("rowsOutOfOrder", "rows out of order")
  val Keys = sum("keys", "keys")
  val KeysSorted = sum("keysSorted", "keys sorted")
  val TasksSortedBySpark = sum("tasksSortedBySpark", "tasks left to Spark's sort")
  val SortTime = time("sortTime", "sort time")
  val PeakMemory = bytes("peakMemory", "peak memory")
  val SpillSize = bytes("spillSize", "spill size")
}

/** The counts of one task. */
private[spark] final class OrderCounts extends TaskCounts(OrderMetrics.length) {
  import OrderMetrics._

  /** Counts a key with `late` overtaken rows, which took `nanos` nanoseconds to sort. */
  def key(late: Long, nanos: Long): Unit = {
    this(Keys) += 1
    this(RowsOutOfOrder) += late
    if (late > 0) {
      this(KeysSorted) += 1
      this(SortTime) += nanos
    }
  }

  /** Sorts rows by Spark's sorter, and counts the time. */
  def sorted(sorter: StableSorter, rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    rows.foreach(sorter.insert)
    val sorted = sorter.sorted()
    this(SortTime) += sorter.sortNanos
    new SortedRows(sorted, sorter.count)
  }
}
