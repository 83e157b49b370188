package io.sash.spark.ordering

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode}
import org.apache.spark.sash.{FakeTask, SparkInternals}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.SashSuite

/** Rows of Spark's sorter, while another thread takes their memory. */
class SortedRowsSuite extends SashSuite {
  private val input = Seq(AttributeReference("o", LongType)())
  private val order = RowOrder(Seq(SortOrder(input.head, Ascending)), input, radix = true)

  /** Asks for all there is as long as it is told to, and gives it back. */
  private final class Asking(of: MemoryConsumer) extends Thread {
    private[this] val manager = SparkInternals.taskMemoryManager(TaskContext.get())
    @volatile var pauses = true
    @volatile var isOver = false
    @volatile var failure: Throwable = _

    override def run(): Unit =
      try
        while (!isOver)
          if (!pauses) manager.synchronized {
            manager.releaseExecutionMemory(manager.acquireExecutionMemory(Long.MaxValue, of), of)
          }
      catch { case e: Throwable => failure = e }
  }

  test("the last row leaves while the sorter is asked to spill") {
    val rounds = sys.env.getOrElse("SASH_TEST_ROUNDS", "10").toInt * 100
    val (failure, _, held) = FakeTask.run(spark.sparkContext, refused = 0) {
      val manager = SparkInternals.taskMemoryManager(TaskContext.get())
      val asking = new Asking(new MemoryConsumer(manager, 1 << 14, MemoryMode.ON_HEAP) {
        override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
      })
      asking.start()
      val rows = UnsafeProjection.create(Array[DataType](LongType))
      var round = 0
      while (round < rounds && asking.failure == null) {
        val three = Iterator(3L, 1L, 2L).map(o => rows(InternalRow(o)))
        val sorted = new OrderCounts().sorted(new StableSorter(order), three)
        asking.pauses = false
        assert(sorted.map(_.getLong(0)).toList == List(1L, 2L, 3L))
        asking.pauses = true
        round += 1
      }
      asking.isOver = true
      asking.join()
      asking.failure
    }
    assert(failure == null && held == 0)
  }
}
