package io.sash.spark.streams.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streaming._

import io.sash.spark.base.Metrics
import io.sash.spark.streams.program.WarmStart
import io.sash.spark.streams.state.{BucketHeader, StreamMetrics, StreamState}

/**
 * Answers the rows of a bucket of keys. Spark's transformWithState calls it once in a micro-batch
 * with all rows of the bucket, or when a timer expires; in real-time mode, with each row.
 */
private[spark] abstract class BucketProcessor
    extends StatefulProcessor[Int, InternalRow, InternalRow] {
  import BucketProcessor._

  @transient private[this] var state: StreamState = _
  @transient private[this] var task: BucketTask = _ // made for the first bucket

  /**
   * The text that describes the state; a state with another text is not used: see `StateFile`.
   */
  def text: String

  /** The columns of a row, under the ids that its expressions have. */
  def input: Seq[Attribute]

  /** The ordinal of a row's time, in microseconds or in panes. */
  def time: Int

  /** The columns of an answer, each over `input`. */
  def fields: Seq[Expression]

  /** The grouping columns, if there are fewer answers than rows. */
  def rowsOver: Seq[Expression] = Nil

  /** The batch that `in` has set; None before. */
  def batch: Option[OperatorBatch]

  /** The history that the windows begin with, if there is one. */
  def start: Option[WarmStart]

  /** The first time that windows behind the history reach; None if they may reach any. */
  def reachesTo: Option[Literal]

  /** The same processor with another start, in another batch. */
  protected def copied(start: Option[WarmStart], batch: Option[OperatorBatch]): BucketProcessor

  /** The same processor, which begins with a history. */
  final def startingWith(history: WarmStart): BucketProcessor = copied(Some(history), batch)

  /** The same processor in a batch. */
  final def in(batch: OperatorBatch): BucketProcessor =
    copied(start, Some(batch))

  /** The text for EXPLAIN. */
  def explained: String

  protected def newTask(state: StreamState): BucketTask

  /** Spark also calls this on the driver, to learn the state's variables. */
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

  /** @param expired the timer that has expired, which Spark deletes itself */
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
    val own = rows.filter(hasTime).map { row =>
      val at = row.getLong(time)
      counts(StreamMetrics.RowsInTime) += 1
      if (at < before.latest) counts(StreamMetrics.RowsOutOfOrder) += 1
      latest = math.max(latest, at)
      row.asInstanceOf[UnsafeRow].copy() // Spark reuses the row
    }
    val watermark = timers.getCurrentWatermarkInMs()
    // rows up to the watermark come until the batch ends: in real-time mode, one by one
    val ended =
      batch.filter(_.isRealTime).flatMap(_.late).getOrElse(watermark * MicrosInMilli)
    val turn = task.turn(before, own, start.fold(ended)(s => math.max(ended, s.until)))
    def finish(): Unit = {
      val left = turn.after().copy(latest = latest)
      // a timer at the watermark or before it would expire again in this batch
      val due = left.due.map(at => math.max(timerAt(at), watermark + 1))
      val after = withTimer(before, left.copy(timer = due), expired)
      if (!known.contains(after)) state.bucket = after.toBytes
      batch.foreach(_.metrics.report(counts))
    }
    val answers = turn.answers.map { answer =>
      counts(StreamMetrics.Answers) += 1
      answer
    }
    KeyTurns.ending(answers)(finish())
  }

  /** Whether a row has a time; a row without one is in no window, and only counted. */
  private def hasTime(row: InternalRow): Boolean = {
    val has = !row.isNullAt(time)
    if (!has) state.counts(StreamMetrics.RowsWithoutTime) += 1
    has
  }

  /**
   * Called when all keys have been answered: the header, whose timer is registered, moved or
   * deleted.
   */
  private def withTimer(
      before: BucketHeader,
      after: BucketHeader,
      expired: Option[Long]
  ): BucketHeader = {
    if (after.timer != before.timer || expired.nonEmpty) {
      before.timer.filterNot(expired.contains).foreach(state.deleteTimer)
      after.timer.foreach(state.registerTimer)
    }
    after
  }
}

private[spark] object BucketProcessor {
  private val MicrosInMilli = 1000L

  /** The least watermark, in milliseconds, that has passed a time in microseconds. */
  private def timerAt(micros: Long): Long = -Math.floorDiv(-micros, MicrosInMilli)
}

/**
 * A batch of an operator.
 *
 * @param late the watermark of late rows, in microseconds, if it is known
 * @param isRealTime whether the query is in real-time mode, where a batch goes on for a while
 * @param metrics the metrics to report to
 */
private[spark] final case class OperatorBatch(
    late: Option[Long],
    isRealTime: Boolean,
    metrics: Metrics
)

/** The windows of a task, which serve one bucket after another. */
private[spark] abstract class BucketTask {

  /**
   * Begins the turn of a bucket.
   *
   * @param before the header of the bucket
   * @param rows the rows of the batch, which nobody else uses
   * @param passed the time, in microseconds, that the watermark has passed
   */
  def turn(before: BucketHeader, rows: Iterator[UnsafeRow], passed: Long): BucketTurn
}

/**
 * The turn of a bucket.
 *
 * @param after called when all answers have been read; returns the header without the new timer
 *   and the new latest time
 */
private[spark] final case class BucketTurn(
    answers: Iterator[InternalRow],
    after: () => BucketHeader
)
