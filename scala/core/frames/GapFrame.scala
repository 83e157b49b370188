package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * The rows from the last gap up to the current row: a session, or the rows since a punctuation.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2 (punctuation).
 *
 * @param keys the rows' keys, each with its bounds
 * @param peersStay whether rows of equal keys never have a gap between them
 * @param boundStays if true, a gap lies before a row that is above the upper bound of the row
 *   before it; if false, before a row that is at or above the lower bound of the row before it
 * @param isBounded whether a gap also lies before a row if the window's first row is below the
 *   row's lower bound; only if `boundStays`
 */
final class GapFrame(
    windows: Array[InOrderWindow],
    keys: RangeKeys,
    peersStay: Boolean,
    boundStays: Boolean = false,
    isBounded: Boolean = false
) extends Frame(windows) {

  override def clear(): Unit = {
    super.clear()
    keys.clear()
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) {
      if (entered > 0 && begins(entered)) while (evicted < entered) leave()
      enter()
      keys.forgetBefore(if (isBounded) evicted else entered - 1)
    }
    true
  }

  private def begins(row: Long): Boolean =
    isBehindGap(row) || isBounded && keys.isBelow(evicted, row)

  private def isBehindGap(row: Long): Boolean =
    !(peersStay && keys.arePeers(row - 1, row)) &&
      (if (boundStays) keys.isAbove(row, row - 1) else !keys.isBelow(row, row - 1))
}
