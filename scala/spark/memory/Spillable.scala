package io.sash.spark.memory

/**
 * What a consumer of the task's memory holds. Spark keeps consumers and listeners until the task
 * ends, which may read a thousand partitions: so these know what they hold by this alone, and
 * forget it when its last row has left.
 */
private[spark] trait Spillable {

  /**
   * Moves to disk what is held, at the request of any thread of the task, which has the lock of
   * the task's memory.
   *
   * @return bytes given back
   */
  def spill(): Long

  /** Gives back all memory and deletes all files; again, it does nothing. */
  def close(): Unit
}
