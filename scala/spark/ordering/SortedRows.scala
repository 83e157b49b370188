package io.sash.spark.ordering

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of Spark's sorter. Before it returns the last row, the sorter frees all its memory. A
 * thread that spills the sorter at that moment fails with a NullPointerException in
 * UnsafeExternalSorter. Spark spills consumers only under the lock of the task's memory manager,
 * so the last row is read under that lock, too.
 */
private[ordering] final class SortedRows(sorted: Iterator[UnsafeRow], count: Long)
    extends Iterator[UnsafeRow] {
  private[this] val manager = SparkInternals.taskMemoryManager(TaskContext.get())
  private[this] var remaining = count

  override def hasNext: Boolean = remaining > 0

  override def next(): UnsafeRow = {
    remaining -= 1
    if (remaining > 0) sorted.next() else manager.synchronized(sorted.next())
  }
}
