package org.apache.spark.sash

import java.util.Properties

import org.apache.spark.{SparkConf, SparkContext, TaskContext, TaskContextImpl}
import org.apache.spark.memory.{RefusingMemoryManager, TaskMemoryManager}

/** A task in this thread, whose memory refuses one request. */
object FakeTask {

  /** What `body` answers, the requests that it made, and the bytes that it did not give back. */
  def run[A](spark: SparkContext, refused: Int, page: String = "16k")(
      body: => A
  ): (A, Int, Long) = {
    val conf = new SparkConf(false)
      .set("spark.buffer.pageSize", page)
      .set("spark.memory.offHeap.enabled", "false")
    val memory = new RefusingMemoryManager(conf, refused)
    val pages = new TaskMemoryManager(memory, 0)
    val metrics = spark.env.metricsSystem
    val task = new TaskContextImpl(0, 0, 0, 0L, 0, 1, pages, new Properties, metrics)
    TaskContext.setTaskContext(task)
    try {
      val answer = body
      task.markTaskCompleted(None)
      (answer, memory.requests, pages.cleanUpAllAllocatedMemory())
    } finally TaskContext.unset()
  }

  /** Asks the task of this thread to end, as the driver does when its job is cancelled. */
  def kill(): Unit =
    TaskContext.get().asInstanceOf[TaskContextImpl].markInterrupted("killed")
}
