package io.sash.papers.mta

import io.sash.core.elements.Elements
import io.sash.core.slots.Partials
import io.sash.papers.algebra.OfAggregation
import io.sash.papers.elements.WindowSlidePolicy

/**
 * Log MTA: one binary tree over the window. An insertion recomputes the nodes above the newest
 * element, an eviction the nodes above the oldest.
 *
 * Invariants, beside (M1), where a level's nodes are those overlapping the window:
 *  - (L1) every node holds the aggregate of its positions that lie in the window
 *  - (L2) `top` is the lowest level of at most two nodes, the root pair
 *  - (M2) if `answered`, the slot `Answer` holds the aggregate of the window
 *  - (L3) after a failed operation (L1) may not hold for the nodes above position `touched` and
 *    below the top; the next operation recomputes them
 *
 * Cost in combines, for windows of at most n elements and h = ⌈log2 n⌉: insert at most h + 1,
 * query at most 1. Every eviction, bulk ones included, takes at most h. Enforcing a policy takes
 * at most 2h + 2. Space: 4n partials, rounded up by doubling, and three for the answer and the
 * search.
 *
 * If a pair has only one node, the paper combines it with a neutral element. Here the parent
 * copies that node.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', section 4.1.
 */
final class LogMta(initial: Partials) extends MonoidTreeAggregator with Elements {
  import MonoidTreeAggregator._

  private[this] var queues = LevelQueues(Reserved, slack = 1)
  private[this] var top = 0
  private[this] var touched = LogMta.Nothing

  private[this] var answered = false
  private[this] var partials: Partials =
    initial.claimed(Partials.Slots).grow(queues.slotsEnd)

  override def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  override def open(): Int = {
    if (end - front == queues.elements) doubleCapacity()
    val opened = queues.slot(0, end)
    end += 1
    opened
  }

  /** Algorithm 1: along the right side of the tree, from the leaf to the root. */
  override def insert(): Unit = {
    requireOpen(end - back)
    val leaf = back
    touch(leaf)
    var newTop = top
    if ((leaf >> top) - firstNode(top) > 1) {
      newTop += 1
      recompute(newTop, firstNode(newTop), front, leaf + 1)
    }
    recomputeAbove(leaf, newTop, front, leaf + 1)
    back += 1
    settle(newTop)
  }

  /** The root pair's aggregate. */
  override def query(): Int =
    if (front == back) {
      partials.identity(Answer)
      Answer
    } else if (firstNode(top) == lastNode(top)) {
      node(top, firstNode(top))
    } else {
      if (!answered) combine(Answer, node(top, firstNode(top)), node(top, lastNode(top)))
      answered = true
      Answer
    }

  override def clear(): Unit = {
    front = end
    back = end
    top = 0
    touched = LogMta.Nothing
  }

  /**
   * Algorithm 2's upper half: from the root to the first remaining leaf, testing the oldest node.
   */
  override protected def slide(policy: WindowSlidePolicy, total: Int): Long = {
    restore()
    var keep = front
    var level = top
    while (level >= 0 && keep < back) {
      val going = hasToGo(policy, total, node(level, keep >> level))
      if (going) keep = math.min(((keep >> level) + 1) << level, back)
      // below the root pair the parent stays, so an evicted node's sibling stays: go down
      if (!going || level < top) level -= 1
    }
    keep
  }

  /**
   * Algorithm 2's lower half: along the left side of the remaining tree, from the leaf to the
   * root.
   */
  override protected def evictUntil(to: Long): Unit = {
    touch(to)
    var newTop = 0
    if (to < back) {
      newTop = top
      while (newTop > 0 && lastNode(newTop - 1) - (to >> (newTop - 1)) <= 1) newTop -= 1
      recomputeAbove(to, newTop, to, back)
    }
    front = to
    settle(newTop)
  }

  /** Begins an operation that recomputes the nodes above a position. */
  private def touch(position: Long): Unit = {
    restore()
    touched = position
  }

  /** Ends the operation. */
  private def settle(newTop: Int): Unit = {
    top = newTop
    answered = false
    touched = LogMta.Nothing
  }

  /** Recomputes the nodes that a failed operation has left undefined (L3). */
  private def restore(): Unit =
    if (touched != LogMta.Nothing) {
      var level = 1
      while (level <= top) {
        val number = touched >> level
        if (number <= lastNode(level)) recompute(level, number, front, back)
        level += 1
      }
      touched = LogMta.Nothing
    }

  private[mta] def height: Int = top

  private[mta] def firstNode(level: Int): Long = front >> level

  private[mta] def lastNode(level: Int): Long = (back - 1) >> level

  /** The slot of an existing node, or of an open element at level 0. */
  private[mta] def node(level: Int, number: Long): Int = queues.slot(level, number)

  override protected[this] def slot(position: Long): Int = node(0, position)

  /**
   * Recomputes the nodes above a leaf, the node of the root pair last. Until then a query's
   * answer stays valid.
   */
  private def recomputeAbove(leaf: Long, newTop: Int, first: Long, until: Long): Unit = {
    var level = 1
    while (level <= newTop) {
      recompute(level, leaf >> level, first, until)
      level += 1
    }
  }

  /** Recomputes one node of the window [first, until) from its children (L1). */
  private def recompute(level: Int, number: Long, first: Long, until: Long): Unit = {
    val left = 2 * number
    val right = left + 1
    val below = level - 1
    if (left < (first >> below)) partials.copy(node(level, number), node(below, right))
    else if (right > ((until - 1) >> below)) partials.copy(node(level, number), node(below, left))
    else combine(node(level, number), node(below, left), node(below, right))
  }

  private def doubleCapacity(): Unit = {
    val bigger = queues.doubled(Reserved)
    partials = partials.grow(bigger.slotsEnd)
    queues.move(partials, 0, front, end, bigger)
    var level = 1
    while (level <= top) {
      queues.move(partials, level, firstNode(level), lastNode(level) + 1, bigger)
      level += 1
    }
    queues = bigger
  }
}

object LogMta extends OfAggregation(new LogMta(_)) {
  private final val Nothing = -1L
}
