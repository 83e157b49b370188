package io.sash.spark.memory

import java.io.Closeable
import java.util.ArrayList

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sash.SparkInternals

/** The memory account of slots, in bytes. */
private[spark] trait WindowMemory {

  /** Acquires `bytes` and returns true, or acquires nothing and returns false. */
  def tryAcquire(bytes: Long): Boolean

  def release(bytes: Long): Unit

  /**
   * Notes `bytes` that stay in memory although `tryAcquire` has refused them, since they cannot
   * be spilled. Throws if there are so many that they endanger the process.
   */
  def heldBeyond(bytes: Long): Unit = ()

  /** Counts bytes written to disk. */
  def spilled(bytes: Long): Unit

  /**
   * Closes `file` when the account closes. An account outside a task does nothing, and the file's
   * owner has to close it.
   */
  def closeAtEnd(file: Closeable): Unit = ()
}

private[spark] object WindowMemory {

  /** The account for slots outside a task, and for slots that are too few to count. */
  object Unlimited extends WindowMemory {
    override def tryAcquire(bytes: Long): Boolean = true
    override def release(bytes: Long): Unit = ()
    override def spilled(bytes: Long): Unit = ()
  }
}

/**
 * The windows of one task as a consumer of the task's memory. When another consumer needs memory,
 * all windows move to disk ([[PagedSlots]]), where they continue to answer.
 *
 * @param kept the calls whose running answers are kept outside the slots and cannot be spilled
 */
private[spark] final class TaskWindowMemory(manager: TaskMemoryManager, kept: Seq[String] = Nil)
    extends MemoryConsumer(manager, MemoryMode.ON_HEAP)
    with WindowMemory {

  /** The lock on the windows, which ask for memory within a turn, by `acquiring`. */
  val turns = new Turns

  /** The windows; null before they are made and after the last row. */
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
          s"${kept.mkString(", ")} outgrow the task's memory. Raise spark.executor.memory (in " +
          "local " +
          "mode spark.driver.memory), run fewer tasks at once (spark.executor.cores), make the " +
          "window shorter, or take an approximate aggregate, as approx_count_distinct or " +
          "percentile_approx"
      )

  override def spilled(bytes: Long): Unit = spilledBytes += bytes

  override def closeAtEnd(file: Closeable): Unit = files.add(file)

  /**
   * Moves the windows to disk, unless they are asking for memory themselves. In that case they
   * move to disk on their own if they get none.
   */
  override def spill(size: Long, trigger: MemoryConsumer): Long = {
    if (windows == null || !turns.takeToSpill()) {
      0L
    } else {
      try if (windows == null) 0L else windows.spill() // the last row may have left meanwhile
      finally turns.end()
    }
  }

  /** Closes windows and files, and releases all memory. */
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
   * The account of a task. It closes when the task ends. The task's listener refers to no window,
   * so that windows can be freed long before.
   */
  def of(context: TaskContext, kept: Seq[String] = Nil): TaskWindowMemory = {
    val memory = new TaskWindowMemory(SparkInternals.taskMemoryManager(context), kept)
    context.addTaskCompletionListener[Unit](_ => memory.close())
    memory
  }

  /**
   * The bytes that a task may hold beyond its account. Spark leaves 0.4 of the heap to objects
   * outside all accounts, for all tasks of the process. Half of that is divided among the
   * processors. It is a var for tests alone.
   */
  private[spark] var MostBeyond: Long =
    Runtime.getRuntime.maxMemory / 5 / Runtime.getRuntime.availableProcessors
}
