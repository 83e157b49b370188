package io.sash.spark.ordering

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of Spark's sorter, which frees all that it has before it gives out its last row, and
 * fails whoever spills it at that moment from another thread (a NullPointerException in
 * UnsafeExternalSorter). Consumers are spilled under the lock of the task's memory manager only,
 * so that row leaves under it.
 */
private[ordering] final class SortedRows(sorted: Iterator[UnsafeRow], count: Long)
    extends Iterator[UnsafeRow] {
  private[this] val manager = SparkInternals.taskMemoryManager(TaskContext.get())
  private[this] var left = count

  override def hasNext: Boolean = left > 0

  override def next(): UnsafeRow = {
    left -= 1
    if (left > 0) sorted.next() else manager.synchronized(sorted.next())
  }
}
