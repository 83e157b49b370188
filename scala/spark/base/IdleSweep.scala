package io.sash.spark.base

import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

/**
 * Calls `sweep` from time to time, in a thread of its own, while there is something to sweep. The
 * thread ends when there has been nothing for a while.
 *
 * @param pause the milliseconds before a call
 * @param isNeeded whether there is something to sweep
 */
private[spark] final class IdleSweep(name: String, pause: => Long, isNeeded: => Boolean)(
    sweep: => Unit
) {
  private[this] val timer = {
    val one = new ScheduledThreadPoolExecutor(
      1,
      task => {
        val thread = new Thread(task, name)
        thread.setDaemon(true)
        thread
      }
    )
    one.setKeepAliveTime(20, TimeUnit.SECONDS)
    one.allowCoreThreadTimeOut(true)
    one
  }
  private[this] var isPlanned = false

  /** Plans a call, unless one is planned or there is nothing to sweep. */
  def plan(): Unit = {
    val needed = isNeeded // takes the caller's lock, if any, before this one
    synchronized {
      if (!isPlanned && needed) {
        isPlanned = true
        timer.schedule((() => sweepNow()): Runnable, pause, TimeUnit.MILLISECONDS)
      }
    }
  }

  private def sweepNow(): Unit =
    try sweep
    finally {
      synchronized { isPlanned = false }
      plan()
    }
}
