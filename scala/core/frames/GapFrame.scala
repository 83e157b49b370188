package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * The rows from the last gap up to the current row: a session, or the rows since a punctuation. A
 * gap lies before a row whose key reaches, or passes, the bound of the row before it.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2 (punctuation).
 *
 * @param keys the rows' keys; the bound is their upper one if `boundStays`, else their lower one
 * @param peersStay whether rows of equal keys never have a gap between them
 * @param boundStays whether a row at the bound still belongs, and only a row above it does not
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
