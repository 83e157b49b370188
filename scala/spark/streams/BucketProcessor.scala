package io.sash.spark.streams

import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.streaming._

/**
 * What Spark's transformWithState calls for a bucket of keys: once in a micro-batch with all its
 * rows, or when a timer has come.
 */
private[spark] abstract class BucketProcessor
    extends StatefulProcessor[Int, InternalRow, InternalRow] {
  import BucketProcessor._

  @transient private[this] var variables: StreamState = _

  /** Says what the state is for; another one's is of no use. */
  def text: String

  protected final def state: StreamState = variables

  /** A bucket's turn: answers, and then what is known of it; its timer is none of the turn's. */
  protected def turn(
      before: BucketHeader,
      rows: Iterator[InternalRow],
      passed: Long
  ): BucketTurn

  /** Spark calls this on the driver, too, to learn of the variables. */
  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    variables = new StreamState(getHandle)

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
    val known = header()
    val before = known.getOrElse(BucketHeader.of(hash))
    val turn = this.turn(before, rows, timers.getCurrentWatermarkInMs() * MicrosInMilli)
    def finish(): Iterator[InternalRow] = {
      val after = withTimer(before, turn.after(), expired)
      if (!known.contains(after)) state.bucket.update(after.toBytes)
      Iterator.empty
    }
    turn.answers ++ finish()
  }

  /** When all keys have been answered: sees to the bucket's timer. */
  private def withTimer(
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
      state.text.update(text)
      None
    } else {
      val header = BucketHeader.read(bytes).filter(_.text == hash)
      if (header.isEmpty) {
        val was = s"${state.text.get()}, in layout ${BucketHeader.layoutOf(bytes)}"
        throw StreamErrors.otherState(was, s"$text, in layout ${BucketHeader.Layout}")
      }
      header
    }
  }

  @transient private[this] lazy val hash = BucketProcessor.hash(text)
}

private[spark] object BucketProcessor {
  private val MicrosInMilli = 1000L

  /** When the watermark, in milliseconds, has passed a time in microseconds. */
  private def timerAt(micros: Long): Long = -Math.floorDiv(-micros, MicrosInMilli)

  /** The same in every JVM. */
  def hash(text: String): Long =
    (MurmurHash3.stringHash(text).toLong << 32) | (MurmurHash3.stringHash(text, 1) & 0xffffffffL)
}

/** @param after called when the answers have left */
private[spark] final case class BucketTurn(
    answers: Iterator[InternalRow],
    after: () => BucketHeader
)
