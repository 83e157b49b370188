package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The counts of one task, in plain fields; [[OrderMetrics]] adds them to the SQL metrics at the
 * task's end.
 */
private[spark] final class OrderCounts {
  var outOfOrder = 0L
  var keys = 0L
  var keysSorted = 0L
  var sortNanos = 0L
  var bySpark = 0L
  var spilledBytes = 0L

  /** Counts a key, with the number of its overtaken rows and the time it took to sort them. */
  def key(late: Long, nanos: Long): Unit = {
    keys += 1
    outOfOrder += late
    if (late > 0) {
      keysSorted += 1
      sortNanos += nanos
    }
  }

  /** The rows in the order of Spark's sorter. */
  def sorted(sorter: StableSorter, rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    rows.foreach(sorter.insert)
    val sorted = sorter.sorted()
    sortNanos += sorter.sortNanos
    new SortedRows(sorted, sorter.count)
  }
}
