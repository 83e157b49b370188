package io.sash.core.frames

/**
 * At which rows a window slides, and so has an answer; it is asked for each row of a partition, in
 * their order.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2 (slide granularity).
 */
sealed abstract class Slide {

  /** Whether the window slides at row `current`, the one after that of the last call. */
  def isAt(current: Long): Boolean

  /** Another partition begins. */
  def clear(): Unit
}

/** At every row whose number, from 1, is a multiple of `every`. */
final class CountSlide(every: Long) extends Slide {
  override def isAt(current: Long): Boolean = (current + 1) % every == 0

  override def clear(): Unit = ()
}

/** At the first row of each pane. */
final class PaneSlide(panes: RangeKeys) extends Slide {
  override def isAt(current: Long): Boolean = {
    val isFirst = current == 0 || !panes.arePeers(current - 1, current)
    panes.forgetBefore(current)
    isFirst
  }

  override def clear(): Unit = panes.clear()
}
