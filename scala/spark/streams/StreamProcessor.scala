package io.sash.spark.streams

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streaming._

/**
 * Answers the rows of a bucket of keys, each when the watermark has passed it. Until then it waits
 * in the state; then all rows of its time are there, so that what a key's windows have taken in
 * is final.
 */
private[spark] final class StreamProcessor(val program: StreamProgram) extends BucketProcessor {
  @transient private[this] var task: StreamTask = _

  override def text: String = program.text

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    super.init(outputMode, timeMode)
    task = null
  }

  override protected def turn(
      before: BucketHeader,
      rows: Iterator[InternalRow],
      passed: Long
  ): BucketTurn = {
    if (task == null) task = new StreamTask(program, state)
    val pending = task.pending
    val ready = task.ready()
    pending.open(before, passed)(ready.add)
    rows.foreach { row =>
      val own = row.asInstanceOf[UnsafeRow].copy() // Spark uses the row again
      if (own.getLong(program.time) <= passed) ready.add(own) else pending.add(own)
    }
    val left = pending.close()
    BucketTurn(
      task.answers(ready),
      () => left.copy(sweep = task.sweep(before.sweep, passed))
    )
  }

  override def toString: String = s"SlidingWindow of ${program.text}"
}
