package io.sash.papers.mta

import java.lang.Long.lowestOneBit
import java.lang.Long.numberOfLeadingZeros
import java.lang.Long.numberOfTrailingZeros

import io.sash.core.elements.{Elements, SlotRing}
import io.sash.core.slots.Partials
import io.sash.papers.algebra.OfAggregation
import io.sash.papers.elements.WindowSlidePolicy

/**
 * Amortized MTA (AMTA) in memory: a forest of binary trees, a result pair (R0, R1) and a stack.
 * Inserting and evicting take constant amortised time, logarithmic time at worst and for bulk
 * evictions. A pair gets a parent when the next pair of its level begins, so no node ever
 * changes. R0 is the aggregate of the leftmost tree, R1 of the elements after it. The stack holds
 * the values that R0 will have once the oldest nodes have left.
 *
 * Invariants, beside (M1):
 *  - (M2) if `answered`, the slot `Answer` holds the aggregate of the window
 *  - (A1) level l has the nodes j with front <= j2^l^ and j < (back + 1) / 2^l^ - 1. Each holds
 *    the aggregate of its positions. The nodes of level 0 are the elements
 *  - (A2) R0 aggregates [front, boundary), nothing if that is empty, and R1 [boundary, back)
 *  - (A3) the stack holds the aggregate of [p, boundary) for each start p of a right sibling on
 *    the way down to the front. These are the p with p - 2^z^ <= front < p < boundary, where z
 *    counts the trailing zeros of p. The first is front + 1, and p + 2^z^ follows p
 *  - (A4) the stack entry of p, and R0 as the entry of the front, has the number z, but at most
 *    `stackTop`. No window has two positions with so many zeros
 *  - (A5) each number of the stack has two slots, and its bit in `banks` says which is in use. R1
 *    has two slots, too. An operation writes the unused slots, and switches to them once nothing
 *    can fail any more
 *
 * Cost in combines, for windows of at most n elements: insert amortised at most 2, at worst
 * log2 n + 1. Evict amortised at most 4/3, at worst 3 log2(n + 1). Query at most 1. Bulk eviction
 * at most 3 log2(n + 1). To find the m elements that a policy evicts takes at most
 * 4 log2(m + 1) + 1 before that.
 *
 * The constants: each element is combined once into R1, and there are fewer nodes above the
 * leaves than leaves (2). Each suffix of a leftmost tree of at least 2^h^ elements is aggregated
 * once. R1 is then recomputed from at most two nodes of each of the h levels below
 * (1 + (2h - 3) / (2^h^ + 1), at most 4/3).
 *
 * Space: 2n partials, rounded up by doubling, and 2 log2 n + 7 for the stack, the results and the
 * search.
 *
 * Differences from the paper:
 *  - When the leftmost tree grows, the paper recomputes R and the stack (algorithm 3, line 18).
 *    Here the new part of the tree stays in R1 until the old part has left, as (A2) allows.
 *  - The paper evicts one element by algorithms 6 and 7, and turns to algorithm 2 if log n
 *    evictions were not enough. Here both are one: the stack's entries for the new front stay,
 *    and the way down from there is algorithm 2's. The search for the first remaining element
 *    begins at the leaves and goes on to larger nodes as long as the nodes are evicted.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', sections 4.2 and 5.1 (Mem. AMTA).
 */
final class Amta(initial: Partials) extends MonoidTreeAggregator with Elements {
  import Amta._
  import MonoidTreeAggregator._

  /** The last number of the stack, counted from 0. */
  private[this] var stackTop = numberOfTrailingZeros(SlotRing.InitialCapacity.toLong)
  private[this] var queues = LevelQueues(FirstStackSlot + 2 * (stackTop + 1), slack = 0)
  private[this] var partials: Partials =
    initial.claimed(Partials.Slots).grow(queues.slotsEnd)
  private[this] var answered = false
  private[this] var boundary = 0L
  private[this] var rightSlot = R1
  private[this] var banks = 0
  private[this] var pushed = 0 // a bit for each number whose unused slot was written

  override def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  override def open(): Int = {
    if (end - front == queues.elements) doubleCapacity()
    val opened = node(0, end)
    end += 1
    opened
  }

  override protected[this] def slot(position: Long): Int = node(0, position)

  /** Algorithm 3. */
  override def insert(): Unit = {
    requireOpen(end - back)
    val leaf = back
    if ((leaf & 1) == 0) addParents(leaf)
    if (leaf == boundary) partials.copy(rightSlot, node(0, leaf))
    else combine(rightSlot, rightSlot, node(0, leaf))
    back = leaf + 1
    answered = false
  }

  override def query(): Int =
    if (front == boundary) {
      if (back == boundary) partials.identity(rightSlot)
      rightSlot
    } else if (back == boundary) {
      stackSlot(front)
    } else {
      if (!answered) combine(Answer, stackSlot(front), rightSlot)
      answered = true
      Answer
    }

  override def clear(): Unit = {
    front = end
    back = end
    boundary = end
  }

  /**
   * Gallops over the oldest nodes, then walks down the first node that is not evicted as a whole.
   */
  override protected def slide(policy: WindowSlidePolicy, total: Int): Long = {
    var keep = front
    var level = 0
    var galloping = true
    while (level >= 0 && keep < back) {
      if (galloping) {
        level = math.min(level, numberOfTrailingZeros(keep))
        while ((keep >> level) >= nodesEnd(level)) level -= 1
      }
      if (hasToGo(policy, total, node(level, keep >> level))) {
        keep += 1L << level
        // walking, the parent stays, so this node's sibling does, too: try the sibling's children
        level += (if (galloping) 1 else -1)
      } else {
        galloping = false
        level -= 1
      }
    }
    keep
  }

  override protected def evictUntil(to: Long): Unit = {
    pushed = 0
    if (to < boundary) popUntil(front, to)
    else if (to > boundary) recompute(to)
    banks ^= pushed
    front = to
    answered = false
  }

  /**
   * Algorithms 4 and 5: makes R0 the aggregate of the leftmost tree from `first` on, and R1 of
   * the rest.
   */
  private def recompute(first: Long): Unit = {
    var leftEnd = first
    if (first < back) {
      val top = topLevel(first)
      leftEnd = nodesEnd(top) << top
      computeLeftResult(top, first, leftEnd)
      computeRightResult(top, leftEnd)
    }
    boundary = leftEnd
  }

  private[mta] def recompute(): Unit = {
    pushed = 0
    recompute(front)
    banks ^= pushed
  }

  /**
   * The slot of an existing node, of the node after the last one, or of an open element at level
   * 0.
   */
  private[mta] def node(level: Int, number: Long): Int = queues.slot(level, number)

  /** The first node of the level that covers no evicted position. */
  private[mta] def firstNode(level: Int): Long = firstNode(level, front)

  private def firstNode(level: Int, first: Long): Long = (first + (1L << level) - 1) >> level

  /** The number after the last node of the level. */
  private[mta] def nodesEnd(level: Int): Long = ((back + 1) >> level) - 1

  /** The slot of the aggregate of [position, boundary), for R0 and for the stack. */
  private[mta] def stackSlot(position: Long): Int = {
    val number = stackNumber(position)
    FirstStackSlot + 2 * number + ((banks >>> number) & 1)
  }

  private def stackNumber(position: Long): Int =
    math.min(numberOfTrailingZeros(position), stackTop)

  /** The positions on the stack, from its top. */
  private[mta] def stack: Array[Long] =
    Array.iterate(front + 1, 64)(p => p + lowestOneBit(p)).takeWhile(_ < boundary)

  /** The end of the leftmost tree, at which the range of R1 begins. */
  private[mta] def leftTreeEnd: Long = boundary

  private[mta] def rightResult: Int = rightSlot

  private def doubleCapacity(): Unit = {
    val bigger = queues.doubled(queues.first + 2)
    partials = partials.grow(bigger.slotsEnd)
    queues.move(partials, 0, front, end, bigger)
    var level = 1
    while (firstNode(level) < nodesEnd(level)) {
      queues.move(partials, level, firstNode(level), nodesEnd(level), bigger)
      level += 1
    }
    lengthenStack(queues.first)
    queues = bigger
  }

  /** Gives the stack one more number, with the two slots after its last ones. */
  private def lengthenStack(slot: Int): Unit = {
    partials.copy(slot, slot - 2 + ((banks >>> stackTop) & 1))
    stackTop += 1
    banks &= ~(1 << stackTop)
  }

  /**
   * Gives a parent to the pair before a node that begins a pair. That parent may begin a pair,
   * too.
   */
  private def addParents(leaf: Long): Unit = {
    var level = 0
    var number = leaf
    while ((number & 1) == 0 && ((number - 2) << level) >= front) {
      val left = number - 2
      number = left >> 1
      val parent = node(level + 1, number)
      combine(parent, node(level, left), node(level, left + 1))
      level += 1
    }
  }

  /**
   * Moves R0 and the stack to a front before the boundary. The stack's entries beyond the lowest
   * tree that holds both fronts stay. Below it, the right siblings on the way to `to` are pushed.
   */
  private def popUntil(from: Long, to: Long): Unit = {
    var level = 63 - numberOfLeadingZeros(from ^ to)
    val isNode = numberOfTrailingZeros(to) == level // then the stack already holds R0
    val next = ((to >> level) + 1) << level
    var younger = if (next < boundary) stackSlot(next) else NoSlot
    while (level > 0) {
      level -= 1
      val sibling = (to >> level) + 1
      if ((sibling & 1) == 1 && (sibling << level) < boundary) {
        younger = push(sibling << level, node(level, sibling), younger)
      }
    }
    if (!isNode) push(to, node(0, to), younger)
  }

  /**
   * Puts node ⊗ younger, for [position, boundary), into its number's unused slot; returns the
   * slot.
   */
  private def push(position: Long, node: Int, younger: Int): Int = {
    val number = stackNumber(position)
    val slot = FirstStackSlot + 2 * number + (~(banks >>> number) & 1)
    pushed |= 1 << number
    if (younger == NoSlot) partials.copy(slot, node) else combine(slot, node, younger)
    slot
  }

  /** The highest level that has a node from `first` on. */
  private def topLevel(first: Long): Int = {
    var level = 63 - numberOfLeadingZeros(back - first)
    while (firstNode(level, first) >= nodesEnd(level)) level -= 1
    level
  }

  private def computeLeftResult(top: Int, first: Long, leftEnd: Long): Unit = {
    var level = top
    var start = leftEnd
    var younger = NoSlot
    while (start > first + 1) {
      while (start - (1L << level) <= first) level -= 1
      start -= 1L << level
      younger = push(start, node(level, start >> level), younger)
    }
    push(first, node(0, first), younger)
  }

  private def computeRightResult(top: Int, leftEnd: Long): Unit = {
    val other = R1 + 1 - (rightSlot - R1)
    var level = top
    var start = leftEnd
    while (start < back) {
      while ((start >> level) >= nodesEnd(level)) level -= 1
      val tree = node(level, start >> level)
      if (start == leftEnd) partials.copy(other, tree) else combine(other, other, tree)
      start += 1L << level
    }
    rightSlot = other
  }
}

object Amta extends OfAggregation(new Amta(_)) {
  private val R1: Int = MonoidTreeAggregator.Reserved
  private val FirstStackSlot: Int = R1 + 2

  private val NoSlot: Int = -1
}
