package io.sash.spark.memory

import java.io.Closeable
import java.util.ArrayList

import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sash.SparkInternals

/** The account that slots take their memory from. */
private[spark] trait WindowMemory {

  /** Takes `bytes`, or nothing and answers false. */
  def tryAcquire(bytes: Long): Boolean

  def release(bytes: Long): Unit

  /**
   * Takes note of bytes that are held though `tryAcquire` refused them, since what holds them cannot
   * leave memory. Fails where they endanger the process.
   */
  def heldBeyond(bytes: Long): Unit = ()

  /** Counts bytes written to disk. */
  def spilled(bytes: Long): Unit

  /** Closes a file when nothing of it is needed any more; outside a task, its owner does. */
  def closeAtEnd(file: Closeable): Unit = ()
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
 * @param kept the calls whose answers are kept beside the slots, which cannot leave memory
 */
private[spark] final class TaskWindowMemory(manager: TaskMemoryManager, kept: Seq[String] = Nil)
    extends MemoryConsumer(manager, MemoryMode.ON_HEAP)
    with WindowMemory {

  /** Windows ask for memory amid an operation, in their turn. */
  val turns = new Turns

  /** The windows; null until they are made, and when the last row has left. */
  @volatile var windows: Spillable = _

  private[this] val files = new ArrayList[Closeable]()

  var peakBytes = 0L
  var spilledBytes = 0L

  override def tryAcquire(bytes: Long): Boolean = {
    val got = turns.acquiring(acquireMemory(bytes))
    if (got < bytes) {
      if (got > 0) freeMemory(got)
      false
    } else {
      peakBytes = math.max(peakBytes, getUsed)
      true
    }
  }

  override def release(bytes: Long): Unit = freeMemory(bytes)

  override def heldBeyond(bytes: Long): Unit =
    if (bytes > TaskWindowMemory.MostBeyond)
      throw SparkInternals.outOfMemory(
        requested = s"$bytes more",
        received = "0 of them: the values that are kept in memory for " +
          s"${kept.mkString(", ")} outgrow the task's memory. Raise spark.executor.memory (in local " +
          "mode spark.driver.memory), run fewer tasks at once (spark.executor.cores), make the " +
          "window shorter, or take an approximate aggregate, as approx_count_distinct or " +
          "percentile_approx"
      )

  override def spilled(bytes: Long): Unit = spilledBytes += bytes

  override def closeAtEnd(file: Closeable): Unit = files.add(file)

  /** A window that is growing does not give way: if there is no memory, it is it that has to go. */
  override def spill(size: Long, trigger: MemoryConsumer): Long = {
    if (windows == null || !turns.takeToSpill()) {
      0L
    } else {
      try if (windows == null) 0L else windows.spill() // the last row may have left meanwhile
      finally turns.end()
    }
  }

  /** Gives back everything. */
  def close(): Unit = {
    turns.take()
    try {
      val leaving = windows
      windows = null
      if (leaving != null) leaving.close()
      files.forEach(_.close())
      files.clear()
      freeMemory(getUsed)
    } finally turns.end()
  }
}

private[spark] object TaskWindowMemory {

  /**
   * What a task may hold beyond its account. Spark leaves four tenths of the heap to objects that
   * no account has, for all tasks of the process; these are half of that. Not final: for tests.
   */
  private[spark] var MostBeyond: Long =
    Runtime.getRuntime.maxMemory / 5 / Runtime.getRuntime.availableProcessors
}
