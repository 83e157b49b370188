package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * RANGE BETWEEN lower AND upper: the rows whose order keys lie between two bounds. Each bound is
 * the current row's key moved by an offset. A row has arrived when its key is in `keys`, too.
 */
final class RangeFrame(windows: Array[InOrderWindow], keys: RangeKeys) extends Frame(windows) {

  override def clear(): Unit = {
    super.clear()
    keys.clear()
  }

  /**
   * Takes its steps in the order of Spark's own frames, since only compared bounds are evaluated.
   */
  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered < arrived && !keys.isAbove(entered, current)) enter()
    if (entered == arrived && !ended) {
      false
    } else {
      while (evicted < entered && keys.isBelow(evicted, current)) leave()
      // without a lower bound no row is compared again once it has entered
      keys.forgetBefore(math.min(if (keys.isUnboundedBelow) entered else evicted, current))
      true
    }
  }
}
