package io.sash.spark.memory

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

/**
 * The lock of what a consumer of memory holds. One thread uses it, row by row; another thread of
 * the task may be in need of memory, and spills it. That one has the lock of Spark's
 * TaskMemoryManager already, which leads to two rules, else both wait for each other:
 *
 *  - (T1) in its turn a thread takes no memory of the manager's and frees no page;
 *  - (T2) or it says so, amid an operation that has to (`acquiring`): then whoever wants to spill
 *    is sent away, and may come again.
 *
 * It is taken for each row: a turn costs one compare-and-set, which is half of what a monitor does.
 */
private[spark] final class Turns {
  import Turns._

  private[this] val state = new AtomicInteger(Free)

  /** Takes the turn of the thread that uses what is held, or is done with it. */
  def take(): Unit = if (!state.compareAndSet(Free, Taken)) await(whileAcquiring = true)

  def end(): Unit = state.setRelease(Free)

  /** In a turn: runs `request`, which asks the manager for memory. */
  def acquiring[A](request: => A): A = {
    state.set(Acquiring)
    try request
    finally state.set(Taken)
  }

  /** Takes the turn of a thread that is to spill; false if what is held is amid an operation. */
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

  /** A row takes less. */
  private val Spins = 200

  /** Nanoseconds; sorting a key or writing it to disk takes more. */
  private val Nap = 50000L
}
