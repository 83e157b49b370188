package io.sash.spark.hops.stream

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.slots.Bytes
import io.sash.core.stored.{StoredPanes, WriteBehind}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns
import io.sash.spark.streams.program.AnswerMode
import io.sash.spark.streams.state.{BucketHeader, StreamMetrics, StreamState}
import io.sash.spark.streams.task._

/**
 * Runs a [[HopProgram]] in a task, for one bucket after another. The header of a key begins with
 * the time when the key is due: when it has to be visited without new rows.
 *
 * @param late a time in microseconds; windows that have ended by that time take no rows
 * @param watermark the watermark of late rows, in microseconds; None if no row is late. A history
 *   may end after it, and its rows are not late for the windows that end in it
 */
private[spark] final class HopTask(
    program: HopProgram,
    state: StreamState,
    late: Long,
    watermark: Option[Long]
) extends BucketTask {
  private[this] val hops = program.hops
  private[this] val keys = program.keys.map(program.input)
  private[this] val keyOf = UnsafeProjection.create(keys, program.input)
  private[this] val order = new ReadyOrder(
    program.input,
    keys,
    Seq(SortOrder(program.input(program.pane), Ascending))
  )

  private[this] val nodes = new state.Nodes(tree = 0)
  private[this] val behind = new WriteBehind(nodes, changing = true)
  private[this] val slots =
    SlotColumns(program.slots).accountedBy(WindowMemory.Unlimited, program.slots)
  private[this] val panes =
    new StoredPanes(slots, slots.compactCodec, behind, StreamState.LogFanOut)
  private[this] val window = panes.window
  private[this] val rowsOfPane = new RowsOfPane(panes, program.grows)

  private[this] val output = UnsafeProjection.create(program.output.toSeq)
  private[this] val joined = new JoinedRow
  private[this] val answer = new SpecificInternalRow(program.answerTypes)
  private[this] val out = new Bytes
  private[this] val firstInTime = hops.firstEndingAfter(late)
  private[this] val firstNotPassed = watermark.fold(Long.MinValue)(hops.firstEndingAfter)

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
   * @param known when the first key of the bucket is due, if one is
   * @param passed the time, in microseconds, that the watermark has passed
   */
  private final class BatchAnswers(
      rows: Iterator[UnsafeRow],
      known: Option[Long],
      passed: Long
  ) {
    private[this] val isWalk = known.exists(_ <= passed)
    private[this] var earliest = if (isWalk) Long.MaxValue else known.getOrElse(Long.MaxValue)

    /** When the first key is due next; valid once all keys have been answered. */
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

    /**
     * The keys that are due now. Of all other keys, `earliest` takes the time when the first is
     * due.
     */
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

    /** The windows of the open key, which is closed behind them. */
    private def answering(key: UnsafeRow, touched: Seq[(Long, Long)]): Iterator[InternalRow] = {
      val windows = program.mode match {
        case AnswerMode.Append => new Closing(passed)
        case AnswerMode.Update => touched.iterator.flatMap { case (w, v) => answered(w, v) }
      }
      KeyTurns.ending(windows.map(w => output(joined(key, w))))(close(key))
    }

    private[this] var keptBefore = 0L // `panes.kept` when the key's state was read

    /**
     * The pane of the key's first row, or `panes.kept` if that is later. No pane before it has
     * rows, so the count of evicted partials begins here.
     */
    private[this] var begun = 0L

    private def open(key: UnsafeRow, header: Array[Byte]): Unit = {
      nodes.of(key.getBytes)
      if (header == null) {
        panes.startAt(hops.firstPaneOf(firstInTime))
      } else {
        val in = ByteBuffer.wrap(header)
        in.getLong()
        panes.read(in)
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
      behind.flush()
    }
  }

  /**
   * Takes the rows of a key into their panes.
   *
   * @return the open windows with these rows, as ranges from the first to the last
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
        val first = math.max(hops.firstWindowOf(pane), firstOpen)
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
   * The key's first open window. Panes that were given up stay closed, since the watermark that
   * Spark reports may fall: see `OwnWatermark`.
   */
  private def firstOpen: Long = math.max(firstInTime, hops.lastWindowOf(panes.kept))

  /** Lowers the window, which has been moved to `number`; true if it has rows. */
  private def lower(number: Long): Boolean = {
    column.lower(0, window.query(), answer)
    answer.setLong(program.startOrdinal, hops.startOf(number))
    answer.setLong(program.endOrdinal, hops.endOf(number))
    answer.getLong(program.rowsOrdinal) > 0
  }

  /**
   * Moves the window to `number`, as far as there are panes. A move forwards costs only the panes
   * that enter and leave; any other move starts anew.
   */
  private def moveTo(number: Long): Unit = {
    val first = hops.firstPaneOf(number)
    val until = math.min(hops.endPaneOf(number), panes.end)
    if (first < window.front || first >= window.back) {
      window.restart(first, math.max(first, until))
    } else {
      window.insertTo(until)
      window.evictTo(first)
    }
  }

  /** The first window from `number` on that has rows, if there is one. */
  private def nextWithRows(number: Long): Option[Long] = {
    val pane = panes.next(hops.firstPaneOf(number))
    Option.when(pane < panes.end)(math.max(number, hops.firstWindowOf(pane)))
  }

  /** The windows of a key that have rows and that the watermark has passed, each once. */
  private final class Closing(passed: Long) extends Iterator[InternalRow] {
    private[this] var number = // the next window
      math.max(hops.lastWindowOf(window.front), firstOpen)
    private[this] var found = false

    override def hasNext: Boolean = {
      if (!found) found = find()
      found
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more windows")
      found = false
      number += 1
      answer
    }

    private def find(): Boolean = {
      var isFound = false
      while (!isFound && hops.exists(number) && hops.endOf(number) <= passed) {
        moveTo(number)
        isFound = lower(number)
        if (!isFound) {
          number = nextWithRows(number).getOrElse(hops.firstEndingAfter(passed))
        }
      }
      isFound
    }
  }

  /** The windows with rows among those from `first` to `last`, each lowered into `answer`. */
  private def answered(first: Long, last: Long): Iterator[InternalRow] =
    Iterator
      .range(0, Math.toIntExact(last - first + 1))
      .map(first + _)
      .filter { number =>
        moveTo(number)
        lower(number)
      }
      .map(_ => answer)

  /**
   * Gives up the panes that are in no open window.
   *
   * @return when the key is due next; None if nothing of it is left
   */
  private def settle(passed: Long): Option[Long] = {
    val lastEnd = hops.endOf(hops.lastWindowOf(panes.end - 1))
    if (lastEnd <= passed) {
      panes.drop()
      None
    } else {
      val open = math.max(hops.firstEndingAfter(passed), firstOpen)
      moveOn(hops.firstPaneOf(open))
      panes.keepFrom(window.front)
      program.mode match {
        case AnswerMode.Update                => Some(lastEnd)
        case AnswerMode.Append if lower(open) => Some(hops.endOf(open))
        case AnswerMode.Append =>
          nextWithRows(open).filter(hops.exists).map(hops.endOf)
      }
    }
  }

  /**
   * Moves the window's start to `front`, the first pane of the next window to answer. The window
   * forgets its aggregates if the next batch cannot go on with them. It also forgets aggregates
   * that are as large as their rows, since a header would hold one for each of its panes.
   */
  private def moveOn(front: Long): Unit = {
    val goesOn = program.mode == AnswerMode.Append && !program.grows
    if (goesOn && front >= window.front && front <= window.back) window.evictTo(front)
    else window.restart(front, front)
  }

  private def column: SlotColumns = panes.column.asInstanceOf[SlotColumns]
}
