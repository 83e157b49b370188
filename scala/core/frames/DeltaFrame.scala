package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * The rows up to the current one, back to the oldest that the delta policy still holds: when a row
 * enters, the oldest leave while they lie more than delta before it by an attribute. What has left
 * stays out, where the attribute goes back.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2, at a slide of 0.
 *
 * @param attributes the rows' attributes, whose lower bound is the current one less delta
 */
final class DeltaFrame(windows: Array[InOrderWindow], attributes: RangeKeys)
    extends Frame(windows) {

  override def clear(): Unit = {
    super.clear()
    attributes.clear()
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) {
      enter()
      while (evicted < entered - 1 && attributes.isBelow(evicted, entered - 1)) leave()
      attributes.forgetBefore(evicted)
    }
    true
  }
}
