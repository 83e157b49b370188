package io.sash.core.policy

/**
 * The last `size` elements, or all while fewer have come; triggers after every `slide` of them.
 * A slide of 1 triggers at each element, a slide of `size` makes the windows tumble.
 */
final class CountPolicy(size: Int, slide: Int) extends WindowPolicy {
  if (slide < 1 || slide > size) {
    throw new IllegalArgumentException(s"slide $slide, not one of 1 to the size $size")
  }

  private[this] var due = slide // elements until the next trigger

  override private[policy] def arrive(attribute: Long, window: PolicyWindow): Unit =
    if (window.size == size) window.evict()

  override private[policy] def entered(attribute: Long, window: PolicyWindow): Unit = {
    due -= 1
    if (due == 0) {
      due = slide
      window.trigger()
    }
  }

  override private[policy] def punctuate(attribute: Long, window: PolicyWindow): Unit = ()

  override private[policy] def clear(): Unit = due = slide
}
