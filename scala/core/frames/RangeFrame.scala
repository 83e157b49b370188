package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * RANGE or GROUPS BETWEEN lower AND upper: the rows between the two bounds of the current row. A
 * row has arrived when it is in `rows`, too.
 */
final class RangeFrame(windows: Array[InOrderWindow], rows: Rows) extends Frame(windows, rows) {
  private[this] val isUnboundedBelow = rows.isUnboundedBelow

  override def evicts: Boolean = !isUnboundedBelow

  override def lags: Boolean = !rows.isUpToPeers

  override def isOver(last: Long, now: Long): Boolean =
    evicts && rows.isBelow(last, now) && rows.isAbove(now, last)

  /**
   * Takes its steps in the order of Spark's own frames, since only compared bounds are evaluated.
   */
  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val isWhole = moveEnd(current, arrived, ended)
    if (isWhole) {
      leaveTo(rows.firstNotBelow(current, evicted, entered))
      forgetBefore(evicted, current)
    }
    isWhole
  }

  private[frames] override def moveEnd(
      current: Long,
      arrived: Long,
      ended: Boolean
  ): Boolean = {
    enterNotAbove(current, arrived)
    entered < arrived || ended
  }

  private[frames] override def firstIn(
      current: Long,
      from: Long,
      until: Long,
      ofLater: Boolean
  ): Long = {
    forgetBefore(from, current)
    rows.firstNotBelow(current, from, until)
  }

  /** Without a lower bound no row is compared again once it has entered. */
  private def forgetBefore(row: Long, current: Long): Unit =
    rows.forgetBefore(math.min(if (isUnboundedBelow) entered else row, current))
}
