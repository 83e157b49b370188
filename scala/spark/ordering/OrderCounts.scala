package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** What one task counts, in plain fields; [[OrderMetrics]] has it at the end. */
private[spark] final class OrderCounts {
  var outOfOrder = 0L
  var keys = 0L
  var keysSorted = 0L
  var sortNanos = 0L
  var bySpark = 0L
  var spilledBytes = 0L

  /** A key whose rows go out, so many of which came late. */
  def key(late: Long, nanos: Long): Unit = {
    keys += 1
    outOfOrder += late
    if (late > 0) {
      keysSorted += 1
      sortNanos += nanos
    }
  }

  /** Rows in the order of Spark's sorter. */
  def sorted(sorter: StableSorter, rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    rows.foreach(sorter.insert)
    val sorted = sorter.sorted()
    sortNanos += sorter.sortNanos
    new SortedRows(sorted, sorter.count)
  }
}
