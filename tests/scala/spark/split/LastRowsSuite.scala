package io.sash.spark.split

import org.apache.spark.TaskContext
import org.apache.spark.sash.{FakeTask, SparkInternals}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.sash.spark.SashSuite
import io.sash.spark.memory.{RowQueue, TaskWindowMemory}

/** The last rows before a task's own are in its memory account, and go to disk if it is short. */
class LastRowsSuite extends SashSuite {
  private val text = UTF8String.fromString("x" * 100)

  private def rows(count: Int): Iterator[InternalRow] = {
    val project = UnsafeProjection.create(Array[DataType](LongType, StringType))
    Iterator.range(0, count).map(i => project(InternalRow(i.toLong, text)))
  }

  private def last(count: Int, most: Int): Seq[Long] = {
    val found = new LastRows(rows(count), most)
    assert(found.knownSize == math.min(count, most))
    found.map { row => assert(row.getUTF8String(1) == text); row.getLong(0) }.toSeq
  }

  test("the last rows come in their order, though any request for memory is refused") {
    for ((count, most) <- Seq(20000 -> 4000, 1500 -> 4000, 0 -> 10, 7 -> 1)) {
      val expected = (math.max(0, count - most) until count).map(_.toLong)
      val (found, requests, _) = FakeTask.run(spark.sparkContext, refused = 0)(last(count, most))
      assert(found == expected)
      val chunks = expected.length * 100L / RowQueue.ChunkBytes
      assert(requests >= chunks - 1, "the rows are not accounted")
      for (refused <- 1 to requests by math.max(1, requests / 12)) {
        val (same, _, held) = FakeTask.run(spark.sparkContext, refused)(last(count, most))
        assert(same == expected && held == 0, s"request $refused of $requests refused")
      }
    }
  }

  test("the last rows go to disk if another consumer of the task needs their memory") {
    val (count, most) = (20000, 4000)
    def made() = new LastRows(rows(count), most)
    val (_, requests, _) = FakeTask.run(spark.sparkContext, refused = 0) { made(); () }
    val ((got, spilled, found), _, held) =
      FakeTask.run(spark.sparkContext, refused = requests + 1) {
        val last = made()
        val task = TaskContext.get()
        val other = new TaskWindowMemory(SparkInternals.taskMemoryManager(task))
        val got = other.turns.during(other.tryAcquire(RowQueue.ChunkBytes.toLong))
        other.close()
        (got, task.taskMetrics().diskBytesSpilled, last.map(_.getLong(0)).toSeq)
      }
    assert(got && spilled > 0, "the rows have stayed in memory")
    assert(found == (count - most until count).map(_.toLong) && held == 0)
  }
}
