package io.sash.spark.hops.stream

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.stored.{StoredPanes, WriteBehind}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns
import io.sash.spark.streams.state.StreamState

/**
 * The hop windows of one key at a time, over the key's panes in the state.
 *
 * @param firstInTime the first window that the watermark has not closed
 */
private[spark] final class KeyHops(program: HopProgram, state: StreamState, firstInTime: Long) {
  private[this] val hops = program.hops
  private[this] val nodes = new state.Nodes(tree = 0)
  private[this] val behind = new WriteBehind(nodes, changing = true)
  private[this] val slots =
    SlotColumns(program.slots).accountedBy(WindowMemory.Unlimited, program.slots)
  private[this] val output = UnsafeProjection.create(program.output.toSeq)
  private[this] val joined = new JoinedRow
  private[this] val answer = new SpecificInternalRow(program.answerTypes)

  val panes: StoredPanes =
    new StoredPanes(slots, slots.compactCodec, behind, StreamState.LogFanOut)

  private[this] val window = panes.window

  def column: SlotColumns = panes.column.asInstanceOf[SlotColumns]

  /** Moves to a key without panes. */
  def begin(key: UnsafeRow): Unit = {
    nodes.of(key.getBytes)
    panes.startAt(hops.firstPaneOf(firstInTime))
  }

  /**
   * Moves to a key with panes.
   *
   * @param header the time at which the key is due, the panes, and more
   * @return the rest of the header, after the panes
   */
  def open(key: UnsafeRow, header: Array[Byte]): ByteBuffer = {
    nodes.of(key.getBytes)
    val in = ByteBuffer.wrap(header)
    in.getLong()
    panes.read(in)
    in
  }

  /** Writes the nodes of the panes to the state. */
  def flush(): Unit = behind.flush()

  /**
   * The key's first open window. A window whose panes were dropped stays closed, since the
   * watermark that Spark reports may fall: see `OwnWatermark`.
   */
  def firstOpen: Long = math.max(firstInTime, hops.lastWindowOf(panes.kept))

  /** The output row of the window that was lowered last. It is valid until the next call. */
  def row(key: UnsafeRow, answer: InternalRow): UnsafeRow = output(joined(key, answer))

  /** Lowers the window, which has been moved to `number`. True if it has rows. */
  def lower(number: Long): Boolean = {
    column.lower(0, window.query(), answer)
    answer.setLong(program.startOrdinal, hops.startOf(number))
    answer.setLong(program.endOrdinal, hops.endOf(number))
    answer.getLong(program.rowsOrdinal) > 0
  }

  /**
   * Moves the window to `number`, as far as there are panes. A move forwards by less than a
   * window costs only the panes that enter and leave. Any other move starts anew.
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

  /** The first window from `number` on that has rows; none without one. */
  def nextWithRows(number: Long): Option[Long] = {
    val pane = panes.next(hops.firstPaneOf(number))
    Option.when(pane < panes.end)(math.max(number, hops.firstWindowOf(pane)))
  }

  /** The windows with rows, from `first` to `last`. Each is lowered into the same row. */
  def answered(first: Long, last: Long): Iterator[InternalRow] =
    Iterator
      .range(0, Math.toIntExact(last - first + 1))
      .map(first + _)
      .filter { number =>
        moveTo(number)
        lower(number)
      }
      .map(_ => answer)

  /** The windows with rows that the watermark has passed. Each is lowered into the same row. */
  def closing(passed: Long): Iterator[InternalRow] =
    new WithRows(math.max(hops.lastWindowOf(window.front), firstOpen), passed)

  /**
   * Iterates over the windows with rows that end by a time.
   *
   * @param first the first window to look at
   * @param until the time, in microseconds
   */
  private final class WithRows(first: Long, until: Long) extends Iterator[InternalRow] {
    private[this] var number = first // the next window
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
      while (!isFound && hops.exists(number) && hops.endOf(number) <= until) {
        moveTo(number)
        isFound = lower(number)
        if (!isFound) {
          number = nextWithRows(number).getOrElse(hops.firstEndingAfter(until))
        }
      }
      isFound
    }
  }
}
