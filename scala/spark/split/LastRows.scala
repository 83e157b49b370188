package io.sash.spark.split

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.memory.{RowQueue, Spillable, TaskWindowMemory}

/**
 * The last rows of an iterator, at most `most`. A row is valid until the next one is read. The
 * rows lie in the task's memory, and go to disk if another consumer needs it. The constructor
 * reads all of `all`.
 */
private[split] final class LastRows(all: Iterator[InternalRow], most: Int)
    extends Iterator[InternalRow]
    with Spillable {
  private[this] val memory = TaskWindowMemory.of(TaskContext.get())
  private[this] var rows: RowQueue = _
  private[this] var count = 0

  memory.windows = this
  all.foreach { next =>
    val row = next.asInstanceOf[UnsafeRow]
    memory.turns.during(keep(row))
  }

  private def keep(row: UnsafeRow): Unit = {
    if (rows == null) rows = new RowQueue(row.numFields, memory)
    rows.add(row)
    if (count == most) rows.remove() else count += 1
  }

  /** The number of rows that are left. */
  override def knownSize: Int = count

  override def hasNext: Boolean = {
    if (count == 0) memory.close()
    count > 0
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    count -= 1
    memory.turns.during(rows.remove())
  }

  override def spill(): Long = {
    val before = memory.getUsed
    if (rows != null) rows.spill()
    before - memory.getUsed
  }

  override def close(): Unit = if (rows != null) rows.close()
}
