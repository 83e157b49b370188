package io.sash.spark.streams.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeRow}
import org.apache.spark.sql.streaming._

import io.sash.spark.streams.state.{BucketHeader, StreamMetrics, StreamState}

/**
 * What Spark's transformWithState calls for a bucket of keys: once in a micro-batch with all its
 * rows, or when a timer has come.
 */
private[spark] abstract class BucketProcessor
    extends StatefulProcessor[Int, InternalRow, InternalRow] {
  import BucketProcessor._

  @transient private[this] var state: StreamState = _
  @transient private[this] var task: BucketTask = _ // made for the first bucket

  /** Says what the state is for; another one's is of no use: see `StateFile`. */
  def text: String

  /** The columns of a row, as its expressions know them. */
  def input: Seq[Attribute]

  /** The columns that it answers, each over `input`. */
  def fields: Seq[Expression]

  /** What its rows are grouped by, if its answers are fewer. */
  def rowsOver: Seq[Expression] = Nil

  /** Where it reports what it has done; none before it is `in` a batch. */
  def metrics: Option[StreamMetrics]

  /**
   * The same in a batch.
   *
   * @param late the watermark by which rows are late, in microseconds, if it is known
   */
  def in(late: Option[Long], metrics: StreamMetrics): BucketProcessor

  /** As EXPLAIN says it. */
  def explained: String

  protected def newTask(state: StreamState): BucketTask

  /** Spark calls this on the driver, too, to learn of the variables. */
  override final def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    state = new StreamState(getHandle)
    task = null
  }

  override final def handleInputRows(
      bucket: Int,
      rows: Iterator[InternalRow],
      timers: TimerValues
  ): Iterator[InternalRow] = answer(rows, timers, expired = None)

  override final def handleExpiredTimer(
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
    if (task == null) task = newTask(state)
    val known = Option(state.bucket).map(BucketHeader.read)
    val before = known.getOrElse(BucketHeader.Empty)
    val counts = state.counts
    counts.clear()
    var latest = before.latest
    val own = rows.map { row =>
      val time = row.getLong(task.time)
      counts.rowsInTime += 1
      if (time < before.latest) counts.rowsLate += 1
      latest = math.max(latest, time)
      row.asInstanceOf[UnsafeRow].copy() // Spark uses the row again
    }
    val turn = task.turn(before, own, timers.getCurrentWatermarkInMs() * MicrosInMilli)
    def finish(): Iterator[InternalRow] = {
      val after = withTimer(before, turn.after().copy(latest = latest), expired)
      if (!known.contains(after)) state.bucket = after.toBytes
      metrics.foreach(_.report(counts))
      Iterator.empty
    }
    val answers = turn.answers.map { answer =>
      counts.answers += 1
      answer
    }
    answers ++ finish()
  }

  /** When all keys have been answered: sees to the bucket's timer. */
  private def withTimer(
      before: BucketHeader,
      left: BucketHeader,
      expired: Option[Long]
  ): BucketHeader = {
    val after = left.copy(timer = left.due.map(timerAt))
    if (after.timer != before.timer || expired.nonEmpty) {
      before.timer.filterNot(expired.contains).foreach(state.deleteTimer)
      after.timer.foreach(state.registerTimer)
    }
    after
  }
}

private[spark] object BucketProcessor {
  private val MicrosInMilli = 1000L

  /** When the watermark, in milliseconds, has passed a time in microseconds. */
  private def timerAt(micros: Long): Long = -Math.floorDiv(-micros, MicrosInMilli)
}

/** What a task of Spark's keeps from bucket to bucket. */
private[spark] abstract class BucketTask {

  /** Of a row: the ordinal of its time, in microseconds or in panes. */
  def time: Int

  /**
   * A bucket's turn.
   *
   * @param before what is known of it
   * @param rows nobody else's
   * @param passed what the watermark has passed, in microseconds
   */
  def turn(before: BucketHeader, rows: Iterator[UnsafeRow], passed: Long): BucketTurn

  /**
   * When the next walk over all keys is to be.
   *
   * @param planned when it was to be
   * @param first when the first one is, if none was planned
   * @param walk if its time has come: when there is to be another one
   */
  protected final def sweep(planned: Option[Long], passed: Long)(
      first: => Option[Long]
  )(walk: => Option[Long]): Option[Long] = planned match {
    case None                        => first
    case Some(time) if time > passed => planned
    case _                           => walk
  }
}

/**
 * @param after called when the answers have left: what is known then, but for the timer and the
 *   latest time
 */
private[spark] final case class BucketTurn(
    answers: Iterator[InternalRow],
    after: () => BucketHeader
)
