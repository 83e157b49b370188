package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

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
 * A row enters once. In most frames the first row of a window only moves forwards, and a row
 * leaves once. In an [[OwnWidthFrame]] and in a [[BoundsFrame]] the first row may move back. So
 * no row leaves there, and the windows are asked for some of their rows.
 *
 * Invariant: `evicted` <= `entered` <= rows arrived. Rows [evicted, entered) are in the frame;
 * later rows are in open slots.
 */
abstract class Frame private[frames] (windows: Array[InOrderWindow]) {
  protected[this] var entered = 0L
  protected[this] var evicted = 0L

  /** The number of rows that have left since this frame was made. */
  var evictions = 0L

  /** The highest number of rows that the frame has held. */
  var peakRows = 0L

  /** The first row of the frame. */
  def first: Long = evicted

  /** The row before which no later frame begins. */
  private[frames] def floor: Long = first

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
  }

  /**
   * Says that the row that arrived last stands for more rows, which lie before all rows that are
   * asked for.
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
}
