package io.sash.spark.hops.stream

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.slots.Bytes
import io.sash.spark.streams.program.AnswerMode
import io.sash.spark.streams.state.{BucketHeader, StreamMetrics, StreamState}
import io.sash.spark.streams.task._

/**
 * Runs a [[HopProgram]] in a task, for one bucket after another. A key's header begins with the
 * time at which the key is ''due'': it then has to be visited even without new rows.
 *
 * A batch that brings the watermark past the due time of any key reads the headers of all keys of
 * the bucket. With many keys, most batches that advance the watermark do so, in both modes.
 *
 * @param late a time in microseconds. Windows that have ended by then take no rows
 * @param watermark the watermark of late rows, in microseconds. It may be before `late` if a
 *   history ends after it; no row is counted as partly late for windows that end in the history
 */
private[spark] final class HopTask(
    program: HopProgram,
    state: StreamState,
    late: Long,
    watermark: Long
) extends BucketTask {
  private[this] val hops = program.hops
  private[this] val keys = program.keys.map(program.input)
  private[this] val keyOf = UnsafeProjection.create(keys, program.input)
  private[this] val order = new ReadyOrder(
    program.input,
    keys,
    Seq(SortOrder(program.input(program.pane), Ascending))
  )

  private[this] val windows = new KeyHops(program, state, hops.firstEndingAfter(late))
  private[this] val panes = windows.panes
  private[this] val window = panes.window
  private[this] val rowsOfPane = new RowsOfPane(panes, program.grows)
  private[this] val out = new Bytes
  private[this] val firstNotPassed = hops.firstEndingAfter(watermark)

  override def turn(
      before: BucketHeader,
      rows: Iterator[UnsafeRow],
      passed: Long
  ): BucketTurn = {
    val ready = new ReadyRows(keyOf, order)
    rows.foreach(ready.add)
    val answers = new BatchAnswers(ready.sorted(), before.sweep, passed)
    BucketTurn(answers.all, () => before.copy(sweep = answers.due))
  }

  /**
   * The windows to answer now, key by key. The state of a key is read when its turn begins, and
   * written when it ends.
   *
   * @param known the time at which the first key of the bucket is due; none if no key is
   * @param passed the time, in microseconds, that the watermark has passed
   */
  private final class BatchAnswers(
      rows: Iterator[UnsafeRow],
      known: Option[Long],
      passed: Long
  ) {
    private[this] val isWalk = known.exists(_ <= passed)
    private[this] var earliest = if (isWalk) Long.MaxValue else known.getOrElse(Long.MaxValue)

    /** The time at which the first key is due next. Valid once all keys have been answered. */
    def due: Option[Long] = Option.when(earliest != Long.MaxValue)(earliest)

    def all: Iterator[InternalRow] =
      KeyTurns.of(rows, keyOf)(turn) ++ (if (isWalk) idleKeys.flatMap(idleTurn) else Nil)

    private def turn(rows: RowsOfKey): Iterator[InternalRow] = {
      val header = state.heads.getValue(rows.key.getBytes)
      open(rows.key, header)
      val first = rows.head.getLong(program.pane)
      begun = if (header == null) first else math.min(begun, math.max(first, panes.kept))
      answering(rows.key, takeIn(rows))
    }

    private def idleTurn(of: (Array[Byte], Array[Byte])): Iterator[InternalRow] = {
      val (bytes, header) = of
      val key = new UnsafeRow(program.keys.length)
      key.pointTo(bytes, bytes.length)
      open(key, header)
      answering(key, Nil)
    }

    /** The keys that are due now. `earliest` becomes the time at which the first other is due. */
    private def idleKeys: Iterator[(Array[Byte], Array[Byte])] =
      state.heads
        .iterator()
        .filter { case (_, header) =>
          val at = ByteBuffer.wrap(header).getLong()
          if (at > passed) earliest = math.min(earliest, at)
          at <= passed
        }
        .toVector // the walk ends before anything is written
        .iterator

    /** The windows to answer of the open key. The key is closed after the last one. */
    private def answering(key: UnsafeRow, touched: Seq[(Long, Long)]): Iterator[InternalRow] = {
      val answers = program.mode match {
        case AnswerMode.Append => windows.closing(passed)
        case AnswerMode.Update =>
          touched.iterator.flatMap { case (w, v) => windows.answered(w, v) }
      }
      KeyTurns.ending(answers.map(windows.row(key, _)))(close(key))
    }

    private[this] var keptBefore = 0L // `panes.kept` when the key's state was read

    /**
     * The pane of the key's first row, or `panes.kept` if that is later. Panes before it have no
     * rows, so evicted partials are counted from here.
     */
    private[this] var begun = 0L

    private def open(key: UnsafeRow, header: Array[Byte]): Unit = {
      if (header == null) windows.begin(key)
      else {
        val in = windows.open(key, header)
        begun = panes.kept + Bytes.number(in)
      }
      keptBefore = panes.kept
    }

    private def close(key: UnsafeRow): Unit = {
      val at = settle(passed)
      at match {
        case Some(time) =>
          earliest = math.min(earliest, time)
          out.clear().putLong(time)
          panes.write(out)
          out.putNumber(math.max(0L, begun - panes.kept))
          state.heads.updateValue(key.getBytes, out.toArray)
        case None => state.heads.removeKey(key.getBytes)
      }
      state.counts(StreamMetrics.PartialsEvicted) +=
        math.max(panes.kept, begun) - math.max(keptBefore, begun)
      windows.flush()
    }
  }

  /**
   * Adds the rows of a key to their panes.
   *
   * @return the open windows with these rows, as ranges (first, last)
   */
  private def takeIn(rows: RowsOfKey): Seq[(Long, Long)] = {
    val touched = ArrayBuffer.empty[(Long, Long)]
    while (rows.hasNext) {
      val pane = rows.head.getLong(program.pane)
      val isPartlyLate = hops.firstWindowOf(pane) < firstNotPassed
      var count = 1L
      rowsOfPane.begin(rows.next())
      while (rows.hasNext && rows.head.getLong(program.pane) == pane) {
        rowsOfPane.add(rows.next())
        count += 1
      }
      rowsOfPane.end()
      if (isPartlyLate) state.counts(StreamMetrics.RowsPartlyLate) += count
      if (pane >= panes.kept) {
        panes.add(pane)
        val first = math.max(hops.firstWindowOf(pane), windows.firstOpen)
        val last = hops.lastWindowOf(pane) // below `first` if there is none
        if (touched.nonEmpty && first <= touched.last._2 + 1) {
          touched(touched.length - 1) = (touched.last._1, math.max(touched.last._2, last))
        } else if (first <= last) {
          touched += (first -> last)
        }
      }
    }
    touched.toSeq
  }

  /**
   * Drops the panes that are in no open window.
   *
   * @return the time at which the key is due next; None if the key has no panes left
   */
  private def settle(passed: Long): Option[Long] = {
    val lastEnd = hops.endOf(hops.lastWindowOf(panes.end - 1))
    if (lastEnd <= passed) {
      panes.drop()
      None
    } else {
      val open = math.max(hops.firstEndingAfter(passed), windows.firstOpen)
      moveOn(hops.firstPaneOf(open))
      panes.keepFrom(window.front)
      program.mode match {
        case AnswerMode.Update                        => Some(lastEnd)
        case AnswerMode.Append if windows.lower(open) => Some(hops.endOf(open))
        case AnswerMode.Append =>
          windows.nextWithRows(open).filter(hops.exists).map(hops.endOf)
      }
    }
  }

  /**
   * Moves the window's start to `front`, the first pane of the next window to answer. The window
   * forgets its aggregates if the next batch cannot continue with them. It also forgets
   * aggregates that are as large as their rows, since the key's header would have one for each
   * pane.
   */
  private def moveOn(front: Long): Unit = {
    val goesOn = program.mode == AnswerMode.Append && !program.grows
    if (goesOn && front >= window.front && front <= window.back) window.evictTo(front)
    else window.restart(front, front)
  }
}
