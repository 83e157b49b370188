package io.sash.spark.memory

import org.apache.spark.TaskContext
import org.apache.spark.sash.{FakeTask, SparkInternals}

import io.sash.spark.SashSuite

/** The windows of a task as a consumer of its memory, which others may spill. */
class WindowMemorySuite extends SashSuite {

  private final class Windows extends Spillable {
    @volatile var closed = false
    @volatile var spilledClosed = false

    override def spill(): Long = {
      if (closed) spilledClosed = true
      1L
    }

    override def close(): Unit = closed = true
  }

  /** Until the thread waits for its turn, in naps. */
  private def awaitNap(thread: Thread): Unit =
    while (thread.isAlive && thread.getState != Thread.State.TIMED_WAITING) Thread.onSpinWait()

  test("windows whose last row has left are not spilled by one who waited for that row") {
    val rounds = 50
    val (spilledClosed, _, held) = FakeTask.run(spark.sparkContext, refused = 0) {
      (1 to rounds).count { _ =>
        val memory = new TaskWindowMemory(SparkInternals.taskMemoryManager(TaskContext.get()))
        val windows = new Windows
        memory.windows = windows
        memory.turns.take()
        val other = new Thread(() => { memory.spill(1, memory); () })
        other.start()
        awaitNap(other)
        memory.turns.end()
        memory.close()
        other.join()
        windows.spilledClosed
      }
    }
    assert(spilledClosed == 0 && held == 0)
  }
}
