package io.sash.core.mta

import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.Partials

/**
 * The Monoid Tree Aggregator (MTA) framework: an in-order window over a list of level queues,
 * which also slides in bulk, by count or by a policy of the user.
 *
 * Level 0 holds the lifted elements, level l aggregates of 2^l^ consecutive ones: node j of level
 * l covers the positions j2^l^ until (j + 1)2^l^ of the stream. Positions and node numbers are
 * absolute. So the children of node j are the nodes 2j and 2j + 1 of the level below (Theorem 1),
 * the paper's pairs are the nodes 2k and 2k + 1, and removing pairs moves a pointer: a node that
 * covers an evicted position no longer exists, whatever its slot holds.
 *
 * Invariants:
 *  - (M1) 0 <= front <= back <= end: the window is [front, back), [back, end) is open
 *  - (M2) if `answered`, the slot `Answer` holds the aggregate of the window
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', section 4.
 */
abstract class MonoidTreeAggregator private[mta] (initial: Partials) extends InOrderWindow {
  import MonoidTreeAggregator._

  protected[this] var partials: Partials = initial.claimed(Partials.Slots)

  /** Position of the oldest element. */
  protected[this] var front = 0L

  /** Position after the newest element. */
  protected[this] var back = 0L

  /** Position after the newest open element. */
  protected[this] var end = 0L

  protected[this] var answered = false

  // The aggregate of the prefix that has to go, and of the one that is being asked about.
  private[this] var prefix = Prefix
  private[this] var trial = Trial
  private[this] var prefixed = false

  /**
   * Enforces the policy: evicts the longest prefix that it names, the whole window if need be.
   * A policy that throws leaves the window as it was.
   */
  final def evict(policy: WindowSlidePolicy): Unit =
    if (front < back) {
      prefixed = false
      val to = slide(policy, query())
      if (to > front) evictUntil(to)
    }

  /** Drops the oldest `count` elements; fails where there are fewer, and drops none. */
  final def evict(count: Int): Unit = {
    if (count < 0) throw new IllegalArgumentException(s"evict($count): a count is not negative")
    if (count > size) {
      throw new NoSuchElementException(s"evict($count) on a window of $size elements")
    }
    if (count > 0) evictUntil(front + count)
  }

  override final def evict(): Unit = {
    requireNonEmpty()
    evictUntil(front + 1)
  }

  override final def size: Int = (back - front).toInt

  override final def column: Partials = partials

  override final def relocate(move: Partials => Partials): Unit = partials = move(partials)

  override protected final def openCount: Long = end - back

  override protected final def openSlot(i: Long): Int = node(0, back + i)

  override protected final def dropYoungestOpen(): Unit = end -= 1

  /**
   * The slot that holds a node which exists, those of open elements among them: for a node of the
   * last pair of its level until the next node of that level is made, for others until the next
   * call.
   */
  private[mta] def node(level: Int, number: Long): Int

  /** Where the window begins once the policy is enforced; asks with [[hasToGo]]. */
  protected def slide(policy: WindowSlidePolicy, total: Int): Long

  /** Makes `to`, with front < to <= back, the front of the window. */
  protected def evictUntil(to: Long): Unit

  /** Whether the policy evicts the prefix so far and `node`; if so, that is the prefix so far. */
  protected final def hasToGo(policy: WindowSlidePolicy, total: Int, node: Int): Boolean =
    if (prefixed) {
      combine(trial, prefix, node)
      val goes = policy.evicts(total, trial)
      if (goes) {
        val longer = trial
        trial = prefix
        prefix = longer
      }
      goes
    } else {
      prefixed = policy.evicts(total, node)
      if (prefixed) partials.copy(prefix, node)
      prefixed
    }
}

private[mta] object MonoidTreeAggregator {
  // Slots that every algorithm of the framework reserves.
  val Answer: Int = 0
  val Prefix: Int = 1
  val Trial: Int = 2
  val Reserved: Int = 3
}
