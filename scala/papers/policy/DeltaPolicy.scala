package io.sash.papers.policy

/**
 * Size and slide by an attribute that does not go back. The window slides when an element's
 * attribute is at least `slide` beyond the attribute at the window's last slide. Before the first
 * slide, the oldest element's attribute counts. The window triggers without the new element. Then
 * the elements that lie more than `size` - `slide` before the new element leave.
 *
 * So a window that triggers spans at most `size`, and every element is in such a window. A slide
 * of 0 triggers at each element; a slide of `size` makes the windows tumble.
 *
 * Cost: at most one trigger an element, amortised O(1) besides. Space: n attributes.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2.
 */
final class DeltaPolicy(size: Long, slide: Long) extends OrderedPolicy {
  OrderedPolicy.requireExtent("size", size, least = 1)
  if (slide < 0 || slide > size) {
    throw new IllegalArgumentException(s"slide $slide, not one of 0 to the size $size")
  }

  private[this] var slidAt = 0L
  private[this] var leaving = false // whether it has triggered at `slidAt`, but not yet evicted

  override protected def move(attribute: Long, window: MovableWindow): Unit = {
    val repeated = leaving && attribute == slidAt
    if (leaving) leave(window)
    if (!repeated && attributes.size > 0 && attribute >= slidAt + slide) {
      window.trigger()
      slidAt = attribute
      leaving = true
      leave(window)
    }
  }

  /** Evicts the elements that lie too far before `slidAt`. */
  private def leave(window: MovableWindow): Unit = {
    evictBefore(slidAt - (size - slide), window)
    leaving = false
  }

  override def entered(attribute: Long, window: MovableWindow): Unit = {
    if (attributes.size == 0) slidAt = attribute
    note(attribute, window)
  }

  override def clear(): Unit = {
    super.clear()
    leaving = false
  }
}
