package io.sash.spark.memory

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

/**
 * A lock on the rows or windows of a memory consumer. One thread uses them, row by row. Another
 * thread of the task may need memory and spill them. It then already holds the lock of Spark's
 * TaskMemoryManager. Two rules prevent a deadlock:
 *
 *  - (T1) a thread in its turn neither acquires memory from the manager nor frees a page, except
 *    inside `acquiring`
 *  - (T2) while a thread is inside `acquiring`, a thread that wants to spill is refused, and may
 *    try again later
 *
 * The lock is taken for each row. A turn costs one compare-and-set, half the cost of a monitor.
 */
private[spark] final class Turns {
  import Turns._

  private[this] val state = new AtomicInteger(Free)

  /** Waits for the turn, as a thread that uses or closes the rows or windows. */
  def take(): Unit = if (!state.compareAndSet(Free, Taken)) await(whileAcquiring = true)

  def end(): Unit = state.setRelease(Free)

  /** Runs `step` in a turn. */
  def during[A](step: => A): A = {
    take()
    try step
    finally end()
  }

  /** Runs `request`, which asks the manager for memory, within the caller's turn. */
  def acquiring[A](request: => A): A = {
    state.set(Acquiring)
    try request
    finally state.set(Taken)
  }

  /**
   * Waits for the turn, as a thread that wants to spill. Returns false at once if the holder of
   * the turn is asking for memory.
   */
  def takeToSpill(): Boolean = await(whileAcquiring = false)

  private def await(whileAcquiring: Boolean): Boolean = {
    var tries = 0
    var taken = state.compareAndSet(Free, Taken)
    while (!taken && (whileAcquiring || state.get != Acquiring)) {
      tries += 1
      if (tries < Spins) Thread.onSpinWait() else LockSupport.parkNanos(Nap)
      taken = state.compareAndSet(Free, Taken)
    }
    taken
  }
}

private object Turns {
  private val Free = 0
  private val Taken = 1
  private val Acquiring = 2

  /** The number of attempts without sleep. Together they take longer than a row. */
  private val Spins = 200

  /** Nanoseconds of sleep between attempts. To sort a key or write it to disk takes longer. */
  private val Nap = 50000L
}
