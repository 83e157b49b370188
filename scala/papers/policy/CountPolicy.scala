package io.sash.papers.policy

/**
 * Holds the last `size` elements, or all until so many have come. Triggers after every `slide`
 * elements. A slide of 1 triggers at each element; a slide of `size` makes the windows tumble.
 */
final class CountPolicy(size: Int, slide: Int) extends WindowPolicy {
  if (slide < 1 || slide > size) {
    throw new IllegalArgumentException(s"slide $slide, not one of 1 to the size $size")
  }

  private[this] var due = slide // elements until the next trigger

  override def arrive(attribute: Long, window: MovableWindow): Unit =
    if (window.size == size) window.evict()

  override def entered(attribute: Long, window: MovableWindow): Unit = {
    if (due == 1) window.trigger()
    due = if (due == 1) slide else due - 1
  }

  override def clear(): Unit = due = slide
}
