package io.sash.papers.policy

/**
 * Range and slide by event time, as in CQL. Window number k holds the elements with a time from
 * k·slide to k·slide + range, both included: the paper's τb and τe. At time τ the window's number
 * is ⌊(τ - range) / slide⌋.
 *
 * A window triggers once time has passed its end, when all its elements have come, peers
 * included. As in IStream, an empty window does not trigger, nor does a window with the same
 * elements as the window before. With a slide of one unit, each time at which an element comes or
 * goes has its own window. A slide of range + 1 units makes the windows tumble. With a slide of
 * `range`, neighbouring windows share an edge.
 *
 * Invariant: `attributes` holds the times of the elements. The oldest element is in window
 * `number`, the last window whose elements differ from the window before. Elements after the end
 * of window `number` enter at window `enters`.
 *
 * Cost: at most two triggers an element, amortised O(1) besides. Space: n times.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.1.
 */
final class TimePolicy(range: Long, slide: Long) extends OrderedPolicy {
  OrderedPolicy.requireExtent("range", range, least = 0)
  if (slide < 1 || slide - 1 > range) {
    throw new IllegalArgumentException(
      s"slide $slide, not one of 1 to ${range + 1}, of a range of $range"
    )
  }

  private[this] var enters = TimePolicy.Never
  private[this] var number = 0L
  private[this] var due = false // whether window `number` has still to trigger

  /** τb, the first time of the window that triggers, for the code that takes its answer. */
  def begin: Long = number * slide

  /** τe, the last time of the window that triggers, for the code that takes its answer. */
  def end: Long = begin + range

  override protected def move(time: Long, window: MovableWindow): Unit = {
    if (due) show(window)
    var next = nextChange
    while (next != TimePolicy.Never && next * slide < time - range) {
      number = next
      enters = TimePolicy.Never
      due = true
      show(window)
      next = nextChange
    }
  }

  /** Evicts the elements before window `number`, and triggers the window if any is left. */
  private def show(window: MovableWindow): Unit = {
    evictBefore(begin, window)
    if (attributes.size > 0) window.trigger()
    due = false
  }

  override def entered(time: Long, window: MovableWindow): Unit = {
    note(time, window)
    if (enters == TimePolicy.Never) enters = -Math.floorDiv(range - time, slide)
  }

  override def clear(): Unit = {
    super.clear()
    enters = TimePolicy.Never
    number = 0L
    due = false
  }

  /** The number of the next window that has gained an element or lost the oldest one. */
  private def nextChange: Long =
    if (attributes.size == 0) TimePolicy.Never
    else math.min(enters, Math.floorDiv(attributes.head, slide) + 1)
}

private object TimePolicy {
  final val Never = Long.MaxValue
}
