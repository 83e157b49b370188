package org.apache.spark.memory

import org.apache.spark.SparkConf

/** Memory without end, but for one request that it refuses. */
final class RefusingMemoryManager(conf: SparkConf, refused: Int) extends TestMemoryManager(conf) {
  private[this] var asked = 0

  /** Requests so far. */
  def requests: Int = asked

  override def acquireExecutionMemory(bytes: Long, task: Long, mode: MemoryMode): Long =
    synchronized {
      asked += 1
      if (asked == refused) 0L else super.acquireExecutionMemory(bytes, task, mode)
    }
}
