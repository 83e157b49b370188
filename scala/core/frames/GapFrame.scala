package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * The rows up to the current one, back to the one behind the last gap: sessions, or what lies
 * between punctuations. A gap lies before a row that reaches a bound of the row before it, or lies
 * beyond it.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2 (punctuation).
 *
 * @param keys the rows' keys; their bound is the upper one if it stays, else the lower one
 * @param peersStay whether no gap lies between rows of equal keys, whatever their bound
 * @param boundStays whether just a row beyond the bound is behind a gap
 */
final class GapFrame(
    windows: Array[InOrderWindow],
    keys: RangeKeys,
    peersStay: Boolean,
    boundStays: Boolean = false
) extends Frame(windows) {

  override def clear(): Unit = {
    super.clear()
    keys.clear()
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) {
      if (entered > 0 && isBehindGap(entered)) while (evicted < entered) leave()
      enter()
      keys.forgetBefore(entered - 1)
    }
    true
  }

  private def isBehindGap(row: Long): Boolean =
    !(peersStay && keys.arePeers(row - 1, row)) &&
      (if (boundStays) keys.isAbove(row, row - 1) else !keys.isBelow(row, row - 1))
}
