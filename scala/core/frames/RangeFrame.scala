package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * RANGE or GROUPS BETWEEN lower AND upper: the rows between the two bounds of the current row. A
 * row has arrived when it is in `rows`, too.
 */
final class RangeFrame(windows: Array[InOrderWindow], rows: Rows) extends Frame(windows, rows) {

  override def evicts: Boolean = !rows.isUnboundedBelow

  override def lags: Boolean = !rows.isUpToPeers

  override def isOver(last: Long, now: Long): Boolean =
    evicts && rows.isBelow(last, now) && rows.isAbove(now, last)

  /**
   * Takes its steps in the order of Spark's own frames, since only compared bounds are evaluated.
   */
  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered < arrived && !rows.isAbove(entered, current)) enter()
    if (entered == arrived && !ended) {
      false
    } else {
      leaveTo(rows.firstNotBelow(current, evicted, entered))
      // without a lower bound no row is compared again once it has entered
      rows.forgetBefore(math.min(if (rows.isUnboundedBelow) entered else evicted, current))
      true
    }
  }
}
