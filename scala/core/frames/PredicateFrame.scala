package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * A frame that ends at the current row and is bounded by its own content. When a row enters, the
 * oldest rows leave until the condition holds for the aggregate of the rest, or no row is left. A
 * row that has left never comes back. Suppose the condition, where it holds for a window, also
 * holds for each younger part of that window. Then the frame is the longest that meets it.
 *
 * Cost: at most two queries of `bounding` a row, amortised.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', section 3.2.
 *
 * @param bounding the one of `windows` whose aggregate the condition tests
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
