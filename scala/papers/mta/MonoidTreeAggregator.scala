package io.sash.papers.mta

import io.sash.core.elements.QueueWindow
import io.sash.papers.elements.{BulkEviction, PolicyEviction, WindowSlidePolicy}

/**
 * The Monoid Tree Aggregator (MTA) framework: an in-order window over a list of level queues. It
 * also slides in bulk, by a count or by a policy of the user.
 *
 * Level 0 holds the lifted elements. Level l holds aggregates of 2^l^ consecutive elements: node
 * j covers the positions j2^l^ until (j + 1)2^l^ of the stream. Positions and node numbers are
 * absolute. So the children of node j are the nodes 2j and 2j + 1 of the level below (Theorem 1),
 * and the paper's pairs are the nodes 2k and 2k + 1. Removing pairs only moves a pointer: a node
 * that covers an evicted position no longer exists, whatever its slot holds.
 *
 * Invariant (M1): 0 <= front <= back <= end, as in every `QueueWindow`.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', section 4.
 */
abstract class MonoidTreeAggregator private[papers] ()
    extends QueueWindow
    with BulkEviction
    with PolicyEviction {
  import MonoidTreeAggregator._

  // The slots of the prefix that the policy evicts so far, and of the longer prefix under test.
  private[this] var prefix = Prefix
  private[this] var trial = Trial
  private[this] var prefixed = false

  override final def evict(policy: WindowSlidePolicy): Unit =
    if (front < back) {
      prefixed = false
      val to = slide(policy, query())
      if (to > front) evictUntil(to)
    }

  override final def evict(count: Int): Unit = {
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

  /** The front of the window once the policy is enforced. It tests prefixes with [[hasToGo]]. */
  protected def slide(policy: WindowSlidePolicy, total: Int): Long

  /** Makes `to`, with front < to <= back, the front of the window. */
  protected def evictUntil(to: Long): Unit

  /** Whether the policy evicts the prefix and `node`. If so, the two become the prefix. */
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
      if (prefixed) column.copy(prefix, node)
      prefixed
    }
}

private[papers] object MonoidTreeAggregator {
  // The slots that every algorithm of the framework reserves.
  val Answer: Int = 0
  val Prefix: Int = 1
  val Trial: Int = 2
  val Reserved: Int = 3
}
