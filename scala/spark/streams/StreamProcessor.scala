package io.sash.spark.streams

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streaming._

/**
 * Answers the rows of a bucket of keys, each when the watermark has passed it. Until then it waits
 * in the state; then all rows of its time are there, so that what a key's windows have taken in
 * is final.
 */
private[spark] final class StreamProcessor(val program: StreamProgram)
    extends StatefulProcessor[Int, InternalRow, InternalRow] {
  import StreamProcessor._

  @transient private[this] var state: StreamState = _
  @transient private[this] var task: StreamTask = _

  /** Spark calls this on the driver, too, to learn of the variables. */
  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    state = new StreamState(getHandle)
    task = null
  }

  override def handleInputRows(
      bucket: Int,
      rows: Iterator[InternalRow],
      timers: TimerValues
  ): Iterator[InternalRow] = answer(rows, timers, expired = None)

  override def handleExpiredTimer(
      bucket: Int,
      timers: TimerValues,
      timer: ExpiredTimerInfo
  ): Iterator[InternalRow] =
    answer(Iterator.empty, timers, expired = Some(timer.getExpiryTimeInMs()))

  /** @param expired the timer that has called, which Spark deletes by itself */
  private def answer(
      rows: Iterator[InternalRow],
      timers: TimerValues,
      expired: Option[Long]
  ): Iterator[InternalRow] = {
    if (task == null) task = new StreamTask(program, state)
    val passed = timers.getCurrentWatermarkInMs() * MicrosInMilli
    val known = header()
    val before = known.getOrElse(BucketHeader.of(task.textHash))
    val pending = task.pending
    val ready = task.ready()
    pending.open(before, passed)(ready.add)
    rows.foreach { row =>
      val own = row.asInstanceOf[UnsafeRow].copy() // Spark uses the row again
      if (own.getLong(program.time) <= passed) ready.add(own) else pending.add(own)
    }
    val left = pending.close()
    val answers = task.answers(ready)
    def finish(): Iterator[InternalRow] = {
      val after = close(before, left.copy(sweep = task.sweep(before.sweep, passed)), expired)
      if (!known.contains(after)) state.bucket.update(after.toBytes)
      Iterator.empty
    }
    answers ++ finish()
  }

  /** When all keys have been answered: sees to the bucket's timer. */
  private def close(
      before: BucketHeader,
      left: BucketHeader,
      expired: Option[Long]
  ): BucketHeader = {
    val timer = (left.chunks.map(_.earliest) ++ left.sweep).minOption.map(timerAt)
    val after = left.copy(timer = timer)
    if (after.timer != before.timer || expired.nonEmpty) {
      before.timer.filterNot(expired.contains).foreach(state.deleteTimer)
      after.timer.foreach(state.registerTimer)
    }
    after
  }

  /** None of a bucket that has no state yet. */
  private def header(): Option[BucketHeader] = {
    val bytes = state.bucket.get()
    if (bytes == null) {
      state.text.update(program.text)
      None
    } else {
      val header = BucketHeader.read(bytes).filter(_.text == task.textHash)
      if (header.isEmpty) {
        val was = s"${state.text.get()}, in layout ${BucketHeader.layoutOf(bytes)}"
        throw StreamErrors.otherState(was, s"${program.text}, in layout ${BucketHeader.Layout}")
      }
      header
    }
  }

  override def toString: String = s"SlidingWindow of ${program.text}"
}

private object StreamProcessor {
  private val MicrosInMilli = 1000L

  /** When the watermark, in milliseconds, has passed a time in microseconds. */
  private def timerAt(micros: Long): Long = -Math.floorDiv(-micros, MicrosInMilli)
}
