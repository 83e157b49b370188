package io.sash.papers.stored

import java.nio.ByteBuffer

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.{Bytes, Partials, SlotCodec}
import io.sash.core.stored.{KeyValueStore, RadixTree, RadixWindow}
import io.sash.papers.algebra.{Column, Window}
import io.sash.papers.elements.WindowSlidePolicy
import io.sash.papers.mta.MonoidTreeAggregator

/**
 * KVS-AMTA: an in-order window of any size, whose elements and aggregates are in a key-value
 * store. Local slots hold the two ends of the window. Another instance continues from the store
 * and the header that `write` makes (`read`).
 *
 * The window is a `RadixWindow` over one stream of a `RadixTree`. A fan-out of 2 makes the
 * paper's trees of pairs. With a larger fan-out there are fewer calls of the store, of more bytes
 * each, and a bulk eviction takes more combines.
 *
 * Cost in combines, for n elements, F the fan-out and h = logF n: insert amortised 2, evict
 * amortised 1 + 1 / (F - 1), query at most 1. Bulk eviction takes at most 2 F h, and at most as
 * many more to find the elements that a policy evicts. Cost in calls of the store: insert
 * amortised 1 / (F - 1), evict 2 / (F - 1), bulk eviction O(h) by a count, and O(h) reads by a
 * policy. Nodes are removed from the store when `RemovedAtOnce` elements have left, by one call
 * for each level. Space: n / (F - 1) nodes in the store, of F partials each, and at most 3 F h
 * partials in local slots, beside the open elements.
 *
 * An exception of the column, of the store or of the codec leaves the window as it was. Only an
 * exception of `KeyValueStore.remove` comes after its call has been carried out. The nodes are
 * then removed later; after `clear`, new nodes replace them first.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', sections 4.1.5, 4.2.1 and 5.1 (KVS AMTA).
 * The paper stores single nodes, in batches of 512; here a node of F partials is one value.
 *
 * @param logFanOut log2 of the fan-out, from 1 to 16
 */
final class KvsAmta(
    initial: Partials,
    store: KeyValueStore,
    codec: SlotCodec,
    logFanOut: Int = KvsAmta.LogFanOut
) extends MonoidTreeAggregator {
  if (logFanOut < 1 || logFanOut > 16) {
    throw new IllegalArgumentException(s"logFanOut is $logFanOut: take a number from 1 to 16")
  }

  private[this] val tree = new RadixTree(
    initial.claimed(Partials.Slots),
    codec,
    store,
    logFanOut,
    holding = true,
    firstSlot = MonoidTreeAggregator.Reserved
  )
  private[this] val window = new RadixWindow(tree, evicting = true)

  /** A ring of the open elements' slots. Their number is a power of two. */
  private[this] var opened = Array(tree.slot())

  /** Whether a call has failed, so that `window` is not [front, back). */
  private[this] var failed = false

  override def column: Partials = tree.column

  override def relocate(move: Partials => Partials): Unit = tree.relocate(move)

  override def open(): Int = {
    if (end - front == Int.MaxValue) {
      throw new IllegalStateException(s"a window holds at most ${Int.MaxValue} elements")
    }
    if (openCount == opened.length) doubleOpened()
    end += 1
    openSlot(openCount - 1)
  }

  /** The slot of an open element. The other elements are in the tree. */
  override protected[this] def slot(position: Long): Int =
    opened(ringIndex(position, opened.length))

  override def insert(): Unit = {
    requireOpen(openCount)
    restore()
    val slot = tree.open()
    column.copy(slot, openSlot(0))
    failed = true
    window.insert(slot)
    tree.append(back)
    failed = false
    back += 1
  }

  override def query(): Int = {
    restore()
    window.query()
  }

  override def clear(): Unit =
    try tree.keepFrom(tree.end)
    finally {
      tree.clear()
      window.clear()
      moveToWindow()
    }

  /** Writes the header, which is to be kept beside the store. Open elements are not in it. */
  def write(out: Bytes): Unit = {
    restore()
    tree.write(out)
    window.write(out)
  }

  /** Continues with the window whose header `write` wrote. Open elements are dropped. */
  def read(in: ByteBuffer): Unit = {
    tree.read(in)
    window.read(in)
    moveToWindow()
  }

  /**
   * Gallops over the oldest entries: one level up after each entry that is evicted, and down
   * where an entry stays. From there on, no entry begins where an entry of a higher level begins.
   */
  override protected def slide(policy: WindowSlidePolicy, total: Int): Long = {
    var keep = front
    var level = 0
    while (level >= 0 && keep < back) {
      level = math.min(level, tree.highestLevel(keep, back))
      val entry = keep >> (level * logFanOut)
      if (hasToGo(policy, total, tree.entry(level, entry))) {
        keep = tree.position(level, entry + 1)
        level += 1
      } else {
        level -= 1
      }
    }
    keep
  }

  override protected def evictUntil(to: Long): Unit = {
    restore()
    failed = true
    window.evictTo(to)
    failed = false
    front = to
    if (front - tree.kept >= KvsAmta.RemovedAtOnce) tree.keepFrom(front)
  }

  /** Makes `window` hold [front, back) again after a call that failed. */
  private def restore(): Unit = if (failed) {
    window.restart(front, back)
    failed = false
  }

  private def moveToWindow(): Unit = {
    front = window.front
    back = window.back
    end = back
    failed = false
  }

  private def doubleOpened(): Unit = {
    val length = 2 * opened.length
    val doubled = new Array[Int](length)
    var i = 0L
    while (i < length) {
      doubled(ringIndex(back + i, length)) = if (i < openCount) openSlot(i) else tree.slot()
      i += 1
    }
    opened = doubled
  }

  private def ringIndex(position: Long, length: Int): Int = (position & (length - 1)).toInt
}

object KvsAmta {

  /** A window of values in the store: `KvsAmta(Max[Double], store)`. */
  def apply[In, Out](
      aggregation: Aggregation[In, _, Out],
      store: KeyValueStore,
      logFanOut: Int = LogFanOut
  ): Window[In, Out, KvsAmta] = {
    val column = Column.of(aggregation)
    column.over(new KvsAmta(column, store, column, logFanOut))
  }

  /** log2 of the fan-out if none is given. */
  val LogFanOut: Int = 5

  /** The number of elements whose nodes are removed from the store together. */
  val RemovedAtOnce: Int = 512
}
