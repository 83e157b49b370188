package io.sash.core.policy

import io.sash.core.slots.LongQueue

/**
 * Range and slide by event time, as CQL has them: window number k holds the elements with a time
 * from k·slide to k·slide + range, both included. At time τ the window is number
 * ⌊(τ - range) / slide⌋, whose edges are the paper's τb and τe.
 *
 * A window triggers when time has passed its end, and so has all that belongs to it, peers
 * included; as IStream has it, a window with the elements of the one before does not trigger
 * again, nor does an empty one. With a slide of one unit each time at which an element comes or
 * goes has its window; a slide of range + 1 units makes the windows tumble, and with a slide of
 * `range` those that follow each other share an edge.
 *
 * Invariant: `times` are those of the elements. They begin in window `number`, the last whose
 * elements differed from those of the one before; those after its end enter at window `enters`.
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

  private[this] val times = new LongQueue
  private[this] var enters = TimePolicy.Never
  private[this] var number = 0L
  private[this] var due = false // whether window `number` has still to trigger

  /** τb, the first time of the window that triggers, for whom takes its answer. */
  def begin: Long = number * slide

  /** τe, the last time of the window that triggers, for whom takes its answer. */
  def end: Long = begin + range

  override protected def move(time: Long, window: Sliding): Unit = {
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

  /** Window `number` triggers, without what came before it. */
  private def show(window: Sliding): Unit = {
    while (times.size > 0 && times.head < begin) {
      window.evict()
      times.remove()
    }
    if (times.size > 0) window.trigger()
    due = false
  }

  override def entered(time: Long, window: Sliding): Unit = {
    times.add(time)
    if (enters == TimePolicy.Never) enters = -Math.floorDiv(range - time, slide)
  }

  override def clear(): Unit = {
    super.clear()
    times.clear()
    enters = TimePolicy.Never
    number = 0L
    due = false
  }

  /** The number of the next window that an element enters, or that the oldest is not in. */
  private def nextChange: Long =
    if (times.size == 0) TimePolicy.Never
    else math.min(enters, Math.floorDiv(times.head, slide) + 1)
}

private object TimePolicy {
  final val Never = Long.MaxValue
}
