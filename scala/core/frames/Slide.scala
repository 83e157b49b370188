package io.sash.core.frames

/**
 * Says at which rows a window slides, and so has an answer. It is asked in order, for the rows
 * that get answers; rows may be left out.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2 (slide granularity).
 */
sealed abstract class Slide {

  /** Whether the window slides at row `current`. */
  def isAt(current: Long): Boolean

  /** Says that rows before `current` are no longer asked for. */
  def moveTo(current: Long): Unit

  /** Begins another partition. */
  def clear(): Unit

  /**
   * Whether the slides at row `now` and at later rows would be the same without row `last` and
   * the rows before it.
   */
  def isOver(last: Long, now: Long): Boolean
}

/** Slides at every row whose number, counted from 1, is a multiple of `every`. */
final class CountSlide(every: Long) extends Slide {
  override def isAt(current: Long): Boolean = (current + 1) % every == 0

  override def moveTo(current: Long): Unit = ()

  override def clear(): Unit = ()

  override def isOver(last: Long, now: Long): Boolean = false
}

/** Slides at the first row of each pane. */
final class PaneSlide(panes: Rows) extends Slide {
  override def isAt(current: Long): Boolean = {
    val isFirst = current == 0 || !panes.arePeers(current - 1, current)
    panes.forgetBefore(current)
    isFirst
  }

  override def moveTo(current: Long): Unit = if (current > 0) panes.forgetBefore(current - 1)

  override def clear(): Unit = panes.clear()

  override def isOver(last: Long, now: Long): Boolean = !panes.arePeers(last, now)
}
