package io.sash.core.mta

import java.lang.Long.numberOfLeadingZeros
import java.lang.Long.numberOfTrailingZeros
import java.util.Arrays

import io.sash.core.Partials

/**
 * Amortized MTA, wherever its nodes live: a forest of binary trees, a result pair (R0, R1) and a
 * stack. A pair gets a parent when the next pair of its level begins, so that no node ever
 * changes. R0 is the aggregate of the leftmost tree, R1 of the elements after it; the stack
 * holds what R0 becomes when the oldest nodes leave.
 *
 * Invariants, beside (M1) and (M2):
 *  - (A1) level l has the nodes j with front <= j2^l^ and j < (back + 1) / 2^l^ - 1, those of
 *    level 0 being the elements; each holds the aggregate of its positions
 *  - (A2) R0 aggregates [front, boundary), nothing if that is empty, and R1 [boundary, back)
 *  - (A3) the stack holds, from its top, the aggregates of [s0, boundary), [s1, boundary), …,
 *    where front + 1 = s0 < s1 < … < boundary, and where each [si, si+1), the last ending at
 *    boundary, is the positions of one node, of the level that stands beside the aggregate
 *
 * Cost in combines: insert amortised at most 2, worst case log2 n + 1; evict amortised at most
 * 4/3, worst case 3 log2 n + 2; query at most 1. Bulk eviction takes 3 log2 n + 2 as well, and
 * to find the m elements that a policy evicts takes 3 log2 m + 3. The constants: each element is
 * combined once into R1 and each node once made (2); every suffix of a leftmost tree of at least
 * 2^h^ elements is aggregated once, and R1 once from two nodes of each of the h levels below
 * (1 + (2h - 3) / (2^h^ + 1) is at most 4/3).
 *
 * Where the paper is not followed to the letter:
 *  - When the leftmost tree grows, the paper computes R and the stack anew (algorithm 3, line
 *    18). Here its new part stays in R1 until the old one has left, as (A2) allows.
 *  - Algorithms 6 and 7 evict one element, and the paper turns to algorithm 2 when log n
 *    evictions did not do. Here both are one: popping the stack skips whole nodes, and what is
 *    left of the last one is walked down as algorithm 2 does. The search for the element that
 *    stays begins at the leaves, with nodes that grow as long as they have to go.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', section 4.2.
 *
 * @param stackSlots slots after the reserved ones for the stack and R0
 */
abstract class AmortizedMta private[mta] (initial: Partials, stackSlots: Int)
    extends MonoidTreeAggregator(initial) {
  import AmortizedMta._
  import MonoidTreeAggregator._

  private[this] var boundary = 0L

  // The stack's slots and levels; a slot beyond `depth` is free, as the one of R0 will be.
  private[this] var stack = Array.range(FirstStackSlot, FirstStackSlot + stackSlots)
  private[this] var levels = new Array[Int](stackSlots)
  private[this] var depth = 0
  private[this] var r0 = FirstStackSlot - 1

  /**
   * The slot that holds a node which exists: for a node of the last pair of its level until the
   * next node of that level is made, for others until the next call.
   */
  private[mta] def node(level: Int, number: Long): Int

  /** A slot for the node after the last one of its level. */
  protected def newNode(level: Int, number: Long): Int

  /** Algorithm 3. */
  override final def insert(): Unit = {
    requireOpen(end - back)
    val leaf = back
    if (leaf == boundary) partials.copy(R1, node(0, leaf)) else combine(R1, R1, node(0, leaf))
    back = leaf + 1
    answered = false
    if ((leaf & 1) == 0) addParents(leaf)
  }

  override final def query(): Int =
    if (front == boundary) {
      if (back == boundary) partials.identity(R1)
      R1
    } else if (back == boundary) {
      r0
    } else {
      if (!answered) combine(Answer, r0, R1)
      answered = true
      Answer
    }

  override def clear(): Unit = {
    front = end
    back = end
    boundary = end
    depth = 0
  }

  /** Gallops over the oldest nodes, then walks down the one that must not go as a whole. */
  override protected final def slide(policy: WindowSlidePolicy, total: Int): Long = {
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
        // the sibling of a node that goes stays, if their parent does
        level += (if (galloping) 1 else -1)
      } else {
        galloping = false
        level -= 1
      }
    }
    keep
  }

  override protected def evictUntil(to: Long): Unit = {
    answered = false
    if (to < boundary) {
      popUntil(to)
      front = to
    } else {
      front = to
      depth = 0
      if (to > boundary) recompute()
    }
  }

  /** Algorithms 4 and 5: makes the leftmost tree of the forest that of R0. */
  private[mta] final def recompute(): Unit = {
    depth = 0
    boundary = front
    if (front < back) {
      val top = topLevel()
      boundary = nodesEnd(top) << top
      computeLeftResult(top)
      computeRightResult(top)
    }
  }

  /** The first node of the level that covers no evicted position. */
  private[mta] final def firstNode(level: Int): Long = (front + (1L << level) - 1) >> level

  /** The number after that of the last node of the level. */
  private[mta] final def nodesEnd(level: Int): Long = ((back + 1) >> level) - 1

  /** The slots of R and, from its top, of the stack with its levels; where R1 begins. */
  private[mta] final def state: State = {
    val topDown = Array.range(0, depth).reverse
    State(r0, R1, topDown.map(stack(_)), topDown.map(levels(_)), boundary)
  }

  /** Gives the stack one more slot. */
  protected final def lengthenStack(slot: Int): Unit = {
    stack = Arrays.copyOf(stack, stack.length + 1)
    stack(stack.length - 1) = slot
    levels = Arrays.copyOf(levels, stack.length)
  }

  /** The pair before a node that begins a pair gets a parent, which may begin a pair itself. */
  private def addParents(leaf: Long): Unit = {
    var level = 0
    var number = leaf
    while ((number & 1) == 0 && ((number - 2) << level) >= front) {
      val left = number - 2
      number = left >> 1
      val parent = newNode(level + 1, number)
      combine(parent, node(level, left), node(level, left + 1))
      level += 1
    }
  }

  /** Moves the front to `to`, before the boundary, for R0 and the stack. */
  private def popUntil(to: Long): Unit = {
    var start = front + 1
    var level = pop()
    while (start + (1L << level) <= to) {
      start += 1L << level
      level = pop()
    }
    if (start == to) {
      val popped = stack(depth)
      stack(depth) = r0
      r0 = popped
      pushSiblings(to, level)
    } else {
      while (level > 0) {
        level -= 1
        if (to < start + (1L << level)) pushNode(level, (start >> level) + 1)
        else start += 1L << level
      }
      aggregateTo(r0, node(0, to))
    }
  }

  private def pop(): Int = {
    depth -= 1
    levels(depth)
  }

  /** Algorithm 7: the right siblings of the oldest node of each level below `level`. */
  private def pushSiblings(oldest: Long, level: Int): Unit = {
    var l = level - 1
    while (l >= 0) {
      pushNode(l, (oldest >> l) + 1)
      l -= 1
    }
  }

  private def pushNode(level: Int, number: Long): Unit = {
    aggregateTo(stack(depth), node(level, number))
    levels(depth) = level
    depth += 1
  }

  /** `dst` <- node ⊗ top of the stack */
  private def aggregateTo(dst: Int, node: Int): Unit =
    if (depth == 0) partials.copy(dst, node) else combine(dst, node, stack(depth - 1))

  /** The highest level that has a node. */
  private def topLevel(): Int = {
    var level = 63 - numberOfLeadingZeros(back - front)
    while (firstNode(level) >= nodesEnd(level)) level -= 1
    level
  }

  private def computeLeftResult(top: Int): Unit = {
    var level = top
    var start = boundary
    while (start > front + 1) {
      while (start - (1L << level) <= front) level -= 1
      start -= 1L << level
      pushNode(level, start >> level)
    }
    aggregateTo(r0, node(0, front))
  }

  private def computeRightResult(top: Int): Unit = {
    var level = top
    var start = boundary
    while (start < back) {
      while ((start >> level) >= nodesEnd(level)) level -= 1
      val tree = node(level, start >> level)
      if (start == boundary) partials.copy(R1, tree) else combine(R1, R1, tree)
      start += 1L << level
    }
  }
}

private[mta] object AmortizedMta {
  private val R1: Int = MonoidTreeAggregator.Reserved
  private val FirstStackSlot: Int = R1 + 2

  /** The slot after those that `stackSlots` needs. */
  def slotsEnd(stackSlots: Int): Int = FirstStackSlot + stackSlots

  /**
   * Slots for the stack of a window of at most 2^logElements^ elements: what follows
   * the oldest element in the leftmost tree is at most three nodes of the top level and one of
   * each below, less one.
   */
  def stackSlots(logElements: Int): Int = logElements + 1

  final case class State(
      r0: Int,
      r1: Int,
      stack: Array[Int],
      levels: Array[Int],
      boundary: Long
  )
}
