package io.sash.spark.memory

import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/** The account that slots take their memory from. */
private[spark] trait WindowMemory {

  /** Takes `bytes`, or nothing and answers false. */
  def tryAcquire(bytes: Long): Boolean

  def release(bytes: Long): Unit

  /** Counts bytes written to disk. */
  def spilled(bytes: Long): Unit
}

private[spark] object WindowMemory {

  /** For slots outside a task, and for those too few to count. */
  object Unlimited extends WindowMemory {
    override def tryAcquire(bytes: Long): Boolean = true
    override def release(bytes: Long): Unit = ()
    override def spilled(bytes: Long): Unit = ()
  }
}

/**
 * The windows of one task as a consumer of the task's memory. Asked for memory by another
 * consumer, it moves all windows to disk ([[PagedSlots]]), where they go on answering.
 *
 * @param page moves every window to disk; called between two operations of a window, never amid
 */
private[spark] final class TaskWindowMemory(manager: TaskMemoryManager, page: () => Unit)
    extends MemoryConsumer(manager, MemoryMode.ON_HEAP)
    with WindowMemory {
  private[this] val owner = Thread.currentThread()
  private[this] var busy = false

  var peakBytes = 0L
  var spilledBytes = 0L

  override def tryAcquire(bytes: Long): Boolean = {
    busy = true
    val got =
      try acquireMemory(bytes)
      finally busy = false
    if (got < bytes) {
      if (got > 0) freeMemory(got)
      false
    } else {
      peakBytes = math.max(peakBytes, getUsed)
      true
    }
  }

  override def release(bytes: Long): Unit = freeMemory(bytes)

  override def spilled(bytes: Long): Unit = spilledBytes += bytes

  /**
   * Only the thread that runs the windows may move them, and not while one of them grows: it is
   * the growing window that then goes to disk.
   */
  override def spill(size: Long, trigger: MemoryConsumer): Long =
    if (busy || trigger == this || Thread.currentThread() != owner) {
      0L
    } else {
      val before = getUsed
      page()
      before - getUsed
    }
}
