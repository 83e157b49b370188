package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * A frame that ends at the current row and is bounded by its own content. When a row enters, the
 * oldest rows leave until the condition holds for the aggregate of the rest, or no row is left. A
 * row that has left never comes back. The frame is the longest that meets the condition, if every
 * suffix of a window that meets it meets it, too.
 *
 * Cost: at most two tests of the condition a row, amortised.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', section 3.2.
 *
 * @param condition tested for rows that have entered; there is at least one
 */
final class PredicateFrame(
    windows: Array[InOrderWindow],
    condition: BoundingCondition
) extends Frame(windows) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) {
      enterTo(entered + 1)
      while (evicted < entered && !condition.holds(evicted, entered)) leaveTo(evicted + 1)
    }
    true
  }
}
