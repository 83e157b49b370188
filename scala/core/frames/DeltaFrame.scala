package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * The frame of the delta policy, which ends at the current row. When a row enters, the oldest row
 * leaves, again and again, while its attribute is more than delta below the new row's. A row that
 * has left never comes back, even if a later attribute is smaller again.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2, with a slide of 0.
 *
 * @param attributes the rows' attributes; their lower bound is the current attribute minus delta
 */
final class DeltaFrame(windows: Array[InOrderWindow], attributes: RangeKeys)
    extends Frame(windows, attributes) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) {
      enter()
      while (evicted < entered - 1 && attributes.isBelow(evicted, entered - 1)) leave()
      attributes.forgetBefore(evicted)
    }
    true
  }
}
