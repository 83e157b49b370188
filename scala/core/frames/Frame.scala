package io.sash.core.frames

import java.nio.ByteBuffer

import scala.annotation.unused

import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.Bytes

/**
 * The rows of each row's window: a frame of SQL (ROWS or RANGE between two bounds), or the rule
 * of a kind. It moves over the rows of a partition. Rows arrive in order and are numbered from 0.
 * A row has arrived when each window that moves by this frame has a filled open slot for it. The
 * owner then asks for the frame of row 0, 1, 2, …, and the windows hold exactly the rows of that
 * frame:
 * {{{
 *   val frame = new RowsFrame(Array(window), lower = -2, upper = 0)
 *   frame.clear()                                        // a partition begins
 *   column.lift(window.open(), value)                    // row 0 arrives
 *   if (frame.moveTo(0, arrived = 1, ended = false))
 *     column.lower(window.query())
 * }}}
 * A frame without windows only says where each row's window begins and ends; its owner moves the
 * window. The parts of a [[JoinedFrame]] are such frames, and so are frames over elements in a
 * store.
 *
 * A row enters once. In most frames the first row of a window only moves forwards, and a row
 * leaves once. In an [[OwnWidthFrame]] and in a [[BoundsFrame]] the first row may move back. So
 * no row leaves there, and the windows are asked for some of their rows.
 *
 * Invariant: `evicted` <= `entered` <= rows arrived. Rows [evicted, entered) are in the windows;
 * later rows are in open slots.
 *
 * @param rows the rows that the frame compares; null if it compares none
 */
abstract class Frame private[frames] (windows: Array[InOrderWindow], rows: Rows = null) {
  protected[this] var entered = 0L
  protected[this] var evicted = 0L

  /** The number of rows that have left since this frame was made. */
  var evictions = 0L

  /** The highest number of rows that the frame has held. */
  var peakRows = 0L

  /** The first row of the frame. */
  def first: Long = evicted

  /** The row before which no later frame begins. */
  final def floor: Long = evicted

  /** The row after the last row of the frame. */
  final def end: Long = entered

  /** The place of a row in the windows. The oldest row in the windows has place 0. */
  private[frames] final def place(row: Long): Int = (row - evicted).toInt

  /** The slot of `window`, one of this frame's, that holds the aggregate of the frame's rows. */
  def query(window: InOrderWindow): Int = window.query()

  /** Begins another partition: the frame is as if no row had arrived. */
  def clear(): Unit = {
    entered = 0L
    evicted = 0L
    var i = 0
    while (i < windows.length) {
      windows(i).clear()
      i += 1
    }
    if (rows != null) rows.clear()
  }

  /**
   * Whether some rows leave before others. If not, either all older rows leave when a row enters,
   * or no row leaves.
   */
  def evicts: Boolean = true

  /** Whether a row may enter later than it arrives. */
  def lags: Boolean = false

  /** The largest number of rows in a frame, or Long.MaxValue if it is not known. */
  def longest: Long = Long.MaxValue

  /**
   * Whether the frames of row `now` and of later rows would be the same without row `last` and
   * the rows before it. Only these two rows are compared.
   */
  def isOver(last: Long, now: Long): Boolean = false

  /** Whether the first row may move back from row to row. */
  private[frames] def movesBack: Boolean = false

  /** Whether later frames depend on more than the rows of this frame: see `write`. */
  def remembers: Boolean = false

  /** Continues where another instance stopped, whose windows held the rows [first, end). */
  def resume(first: Long, end: Long): Unit = {
    entered = end
    evicted = first
  }

  /** Writes the frame's state, apart from its rows. */
  def write(out: Bytes): Unit = ()

  /** Reads the bytes of `write`, after `resume`. */
  def read(in: ByteBuffer): Unit = ()

  /**
   * Says that the row that arrived last stands for `rows` more rows. All of them lie before any
   * row for which the caller asks.
   */
  def omit(rows: Long): Unit = ()

  /**
   * Moves the frame to row `current`. That row has arrived and is not before the last call's row.
   *
   * @param arrived number of rows that have arrived
   * @param ended whether these are all rows of the partition
   * @return false if rows that have yet to arrive may belong to the frame
   */
  def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean

  /**
   * `moveTo` for a part of a [[JoinedFrame]], which asks for the first row separately
   * (`firstIn`). So a part need not search for its first row where another part decides.
   */
  private[frames] def moveEnd(current: Long, arrived: Long, ended: Boolean): Boolean =
    moveTo(current, arrived, ended)

  /**
   * The first row of the frame of row `current`, but at least `from` and at most `until`. The
   * frame's end has moved to this row before (`moveEnd`). No later call has a smaller `from`.
   *
   * @param ofLater whether no later frame may begin before the returned row either
   */
  private[frames] def firstIn(
      @unused current: Long,
      from: Long,
      until: Long,
      ofLater: Boolean
  ): Long = if (ofLater && movesBack) from else math.max(from, math.min(first, until))

  protected final def enter(): Unit = {
    var i = 0
    while (i < windows.length) {
      windows(i).insert()
      i += 1
    }
    entered += 1
    if (entered - evicted > peakRows) peakRows = entered - evicted
  }

  protected final def leave(): Unit = {
    var i = 0
    while (i < windows.length) {
      windows(i).evict()
      i += 1
    }
    evicted += 1
    evictions += 1
  }

  /** Lets the arrived rows enter that are not above the upper bound of row `current`. */
  protected final def enterNotAbove(current: Long, arrived: Long): Unit =
    while (entered < arrived && !rows.isAbove(entered, current)) enter()

  /** Lets the rows before `position` enter, which have arrived. */
  protected final def enterTo(position: Long): Unit = while (entered < position) enter()

  /** Lets the rows before `position` leave, which have entered. */
  protected final def leaveTo(position: Long): Unit = while (evicted < position) leave()
}
