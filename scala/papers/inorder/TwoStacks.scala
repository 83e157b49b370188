package io.sash.papers.inorder

import io.sash.core.elements.{Elements, SlotRing}
import io.sash.core.slots.Partials
import io.sash.papers.algebra.OfAggregation

/**
 * Two-Stacks: a queue made of two stacks. An element carries its value and the aggregate of the
 * elements from itself to the bottom of its stack. Evictions pop the front stack, insertions push
 * the back stack.
 *
 * Invariants, for window contents v0 … vn-1 at positions F … E-1 and the stacks' common bottom B:
 *  - (I1) the first slot of position F+i holds vi
 *  - (I2) the second slot of F+i < B holds vi ⊗ … ⊗ v(B-F-1): the front stack, top first
 *  - (I3) the second slot of F+i >= B holds v(B-F) ⊗ … ⊗ vi: the back stack, top last
 *
 * Cost in combines: insert and query at most 1, evict at most n and amortised 1. Space: 2n
 * partials, and one for the answer.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 3.
 */
final class TwoStacks(initial: Partials)
    extends SlotRing(initial, reserved = 1, paired = true)
    with Elements {
  private[this] final val answer = 0
  private[this] var bottom = 0L

  override def insert(): Unit = {
    requireOpen(end - back)
    val value = slot(back)
    if (back == bottom) {
      partials.copy(agg(back), value) // 1 ⊗ v without a combine
    } else {
      combine(agg(back), agg(back - 1), value)
    }
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    if (front == bottom) flip()
    front += 1
  }

  override def query(): Int =
    if (front == bottom) {
      if (back == bottom) {
        partials.identity(answer)
        answer
      } else {
        agg(back - 1)
      }
    } else if (back == bottom) {
      agg(front)
    } else {
      combine(answer, agg(front), agg(back - 1))
      answer
    }

  override def clear(): Unit = {
    super.clear()
    bottom = 0L
  }

  private def agg(position: Long): Int = slot(position) + length

  /** Pops the whole back stack and pushes it onto the empty front stack, youngest first (I2). */
  private def flip(): Unit = {
    var i = back - 1
    var younger = slot(i) // the value: the back stack needs its aggregate until the end
    while (i != front) {
      i -= 1
      partials.combine(agg(i), slot(i), younger)
      younger = agg(i)
    }
    partials.copy(agg(back - 1), slot(back - 1))
    bottom = back
  }
}

object TwoStacks extends OfAggregation(new TwoStacks(_))
