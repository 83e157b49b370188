package io.sash.spark.memory

/**
 * Rows or windows in the memory of a consumer (Spark's MemoryConsumer). Spark keeps consumers and
 * listeners until the task ends, and a task may read a thousand partitions. So a consumer refers
 * to its rows or windows by a Spillable alone, and drops the reference after the last row.
 */
private[spark] trait Spillable {

  /**
   * Moves the rows or windows to disk. Any thread of the task may call it. Spark calls it while
   * it holds the lock of the task's memory manager.
   *
   * @return the number of bytes released
   */
  def spill(): Long

  /** Releases all memory and deletes all files. A second call does nothing. */
  def close(): Unit
}
