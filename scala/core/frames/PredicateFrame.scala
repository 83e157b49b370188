package io.sash.core.frames

import io.sash.core.elements.InOrderWindow
import io.sash.core.policy.Condition

/**
 * The rows up to the current one, bounded by their own content: when a row enters, the oldest
 * leave until a condition holds for the aggregate of what is left, or nothing is. With a condition
 * that holds for every younger part of a window for which it holds, that is the longest window
 * that ends here and meets it. What has left stays out.
 *
 * Cost: at most two queries of `bounding` a row, amortised.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', section 3.2.
 *
 * @param bounding the one of `windows` that the condition looks at
 */
final class PredicateFrame(
    windows: Array[InOrderWindow],
    bounding: InOrderWindow,
    condition: Condition
) extends Frame(windows) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) {
      enter()
      while (evicted < entered && !condition.holds(bounding.query())) leave()
    }
    true
  }
}
