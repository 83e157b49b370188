package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.frames.{Frame, BoundingCondition}
import io.sash.core.slots.Bytes

/**
 * A frame that moves one of the [[StoredWindows]]. Elements enter as they come, unless the frame
 * lags; they leave in bulk, node by node. One instance serves one stream after the other.
 *
 * @param make makes the frame, without windows, over [[TreeRows]]. It gets the condition on the
 *   content of the window
 * @param isLater whether rows come long before they are asked for
 * @param window the window, made with the shape `stored`
 * @param condition whether the condition holds for the window
 */
private[sash] final class TreeFrame(
    make: BoundingCondition => Frame,
    isLater: Boolean,
    window: => TreeWindow,
    condition: => Boolean = true
) {
  private[this] lazy val of = window

  private[this] val frame = make { (first, end) =>
    of.insertTo(end)
    of.evictTo(first)
    condition
  }

  private[this] val evicts = frame.evicts

  /** Whether rows may enter later than they come. */
  val lags: Boolean = isLater || frame.lags

  /** The way in which the window uses elements. */
  def stored: StoredWindows.Shape = StoredWindows.Shape(evicts, lags, frame.longest)

  /** Takes the next row of the stream, whose partial is in this slot. */
  def come(row: Long, slot: Int): Unit = if (!lags) {
    if (!evicts) {
      frame.moveTo(row, row + 1, ended = true)
      if (frame.first > of.front) of.evictAll()
    }
    of.insert(slot)
  }

  /**
   * Moves the window to a row.
   *
   * @param end the number of rows that have come
   */
  def moveTo(row: Long, end: Long): Unit = {
    frame.moveTo(row, end, ended = true)
    if (lags) of.insertTo(frame.end)
    if (evicts) of.evictTo(frame.floor)
  }

  /** The slot with the aggregate of the frame's rows; valid until the next call. */
  def query(): Int =
    if (frame.first <= of.front) of.query()
    else {
      of.begin()
      of.append(frame.first, of.back)
      of.answer()
    }

  /** Begins a stream, without rows. */
  def clear(): Unit = frame.clear()

  /** Writes the frame's state, apart from the window. */
  def write(out: Bytes): Unit = frame.write(out)

  /** Reads the bytes of `write`, after the window has been read. */
  def read(in: ByteBuffer): Unit = {
    frame.clear()
    frame.resume(of.front, of.back)
    frame.read(in)
  }
}
