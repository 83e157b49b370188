package io.sash.core.frames

import io.sash.core.elements.{InOrderWindow, Stretches}

/**
 * EXCLUDE CURRENT ROW, GROUP or TIES: answers for a row's frame without the excluded rows. The
 * excluded rows stay in the windows, which answer for ranges of their rows
 * ([[io.sash.core.elements.Stretches]]).
 *
 * Cost a row: amortised at most three comparisons of order keys, and at most three ranges of each
 * window.
 *
 * @param peers order keys, compared for equality only; null for EXCLUDE CURRENT ROW
 * @param keepsRow whether the row itself stays (TIES)
 */
final class Exclusion(peers: Rows, keepsRow: Boolean) {

  /** Rows [from, until) are excluded, as far as they are in the frame. */
  private[this] var from = 0L
  private[this] var until = 0L
  private[this] var row = -1L

  def clear(): Unit = {
    if (peers != null) peers.clear()
    from = 0L
    until = 0L
    row = -1L
  }

  /** Goes on to row `current`. The frame has moved there before. */
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

  /**
   * The slot with the aggregate of the frame's remaining rows in `window`, one of the frame's.
   */
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
