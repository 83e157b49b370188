package io.sash.core.frames

import io.sash.core.elements.{InOrderWindow, Stretches}

/**
 * EXCLUDE CURRENT ROW, GROUP or TIES: what a frame's answer for a row leaves out, though it stays in
 * the windows, which answer for stretches.
 *
 * Cost: one comparison a row, amortised two, and at most three stretches of a window.
 *
 * @param peers of whose keys just equality is asked; null where just the row itself is excluded
 * @param keepsRow whether the row itself stays (TIES)
 */
final class Exclusion(peers: RangeKeys, keepsRow: Boolean) {

  /** The rows that are excluded, as far as they are in the frame. */
  private[this] var from = 0L
  private[this] var until = 0L
  private[this] var row = -1L

  def clear(): Unit = {
    if (peers != null) peers.clear()
    from = 0L
    until = 0L
    row = -1L
  }

  /** Goes on to row `current`, to which `frame` has moved. */
  def moveTo(current: Long, frame: Frame): Unit = {
    if (current > row && (peers == null || row < 0 || !peers.arePeers(current - 1, current))) {
      from = current
      until = current + 1
    }
    row = current
    if (peers != null) {
      while (until < frame.end && (until <= current || peers.arePeers(until, current))) until += 1
      peers.forgetBefore(current)
    }
  }

  /** The slot of `window`, one of the frame's, that holds the aggregate of what is left. */
  def query(frame: Frame, window: InOrderWindow): Int = {
    val stretches = window.asInstanceOf[Stretches]
    stretches.begin()
    append(stretches, frame, frame.first, from)
    if (keepsRow) append(stretches, frame, row, row + 1)
    append(stretches, frame, until, frame.end)
    stretches.answer()
  }

  private def append(stretches: Stretches, frame: Frame, from: Long, until: Long): Unit = {
    val begin = math.max(from, frame.first)
    val end = math.min(until, frame.end)
    if (begin < end) stretches.append(frame.place(begin), frame.place(end))
  }
}
