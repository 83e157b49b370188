package io.sash.core.inorder

import io.sash.core.elements.SlotRing
import io.sash.core.slots.Partials

/**
 * Two-Stacks Lite: a queue of partial aggregates with a boundary between a front and a back part,
 * and one running aggregate of the back part.
 *
 * Invariants, for window contents v0 … vn-1 at positions F … E-1 and boundary B:
 *  - (I1) position F+i < B holds vi ⊗ … ⊗ v(B-F-1): the front part holds suffix aggregates
 *  - (I2) position F+i >= B holds vi: the back part holds the lifted values
 *  - (I3) `aggB` holds the aggregate of the back part
 *  - (I4) normally flipEnd = B. A failed flip leaves B = F, and the positions from `flipped` to
 *    before `flipEnd` then hold their aggregates of (I1) for B = flipEnd
 *
 * Cost in combines: insert and query at most 1, evict at most n and amortised 1. Space:
 * n + 1 partials, and one for the answer.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 4.
 */
final class TwoStacksLite(initial: Partials) extends SlotRing(initial, reserved = 2) {
  private[this] final val aggB = 0
  private[this] final val answer = 1
  private[this] var boundary = 0L
  private[this] var flipEnd = 0L
  private[this] var flipped = 0L

  override def insert(): Unit = {
    requireOpen(end - back)
    val value = slot(back)
    if (back == boundary) {
      partials.copy(aggB, value) // 1 ⊗ v without a combine
    } else {
      combine(aggB, aggB, value)
    }
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    if (front == boundary) flip()
    front += 1
  }

  override def query(): Int =
    if (front == boundary) {
      if (back == boundary) partials.identity(aggB)
      aggB
    } else if (back == boundary) {
      slot(front)
    } else {
      combine(answer, slot(front), aggB)
      answer
    }

  override def clear(): Unit = {
    super.clear()
    boundary = 0L
    flipEnd = 0L
  }

  /** Turns the whole window into the front part, from the youngest to the oldest element (I1). */
  private def flip(): Unit = {
    if (flipEnd == boundary) {
      flipEnd = back
      flipped = back - 1
    }
    if (partials.total) aggregateSuffixes() else flipStepByStep()
    if (flipEnd < back) aggregateBack()
    boundary = flipEnd
  }

  /** Overwrites values one by one. After a failed step the next flip goes on from there (I4). */
  private def flipStepByStep(): Unit = {
    var position = flipped
    var younger = slot(position)
    try {
      while (position > front) {
        val older = slot(position - 1)
        combine(older, older, younger)
        younger = older
        position -= 1
      }
    } finally flipped = position
  }

  /** Restores (I3) when elements were inserted after a failed flip. */
  private def aggregateBack(): Unit = {
    partials.copy(answer, slot(flipEnd))
    foldOnto(answer, flipEnd + 1)
    partials.copy(aggB, answer)
  }
}
