package io.sash.core.mta

import io.sash.core.slots.{Partials, SlotCodec}

/**
 * KVS-AMTA: Amortized MTA with the middle of its level queues in a key-value store, so that the
 * window may be larger than memory. Invariants and cost in combines: see [[AmortizedMta]].
 *
 * A level keeps up to `buffer` new nodes in local slots. Then it stores all but the last pair in
 * one batch, unless half of the nodes have left the window by then. From the oldest stored node
 * on, it reads up to `buffer` nodes ahead, again each time half of them are used. Nodes that have
 * left the window are removed from the store in batches.
 *
 * Cost in calls of the store: amortised O(1 / buffer) to insert and to evict, O(log n) for bulk
 * evictions. Space: 2n values in the store, and O(log n) partials in local slots. These are two
 * buffers for each level of more than half a buffer of nodes, one for each other level, and the
 * open elements beyond one buffer.
 *
 * An exception of the store or of the codec passes through. The window is then undefined until it
 * is cleared.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', sections 4.1.5, 4.2.1 and 5.1 (KVS AMTA).
 *
 * @param buffer a power of two, 4 or more
 */
final class KvsAmta(
    initial: Partials,
    store: KeyValueStore,
    codec: SlotCodec,
    buffer: Int = KvsAmta.Buffer
) extends AmortizedMta(initial, KvsAmta.LogElements) {
  if (buffer < 4 || Integer.bitCount(buffer) != 1) {
    throw new IllegalArgumentException(s"a buffer of $buffer: take a power of two from 4 on")
  }

  private[this] var slotsEnd = AmortizedMta.slotsEnd(KvsAmta.LogElements)
  private[this] val queues = new Array[KvsLevel](KvsAmta.LogElements)
  private[this] var tidied = 0L // the front at the last `tidyUp`

  queues(0) = newLevel(0, 0L)

  override def open(): Int = {
    if (end - front == Int.MaxValue) {
      throw new IllegalStateException(s"a window holds at most ${Int.MaxValue} elements")
    }
    val leaves = queues(0)
    if (leaves.isFull(end)) {
      makeRoom(0, end, back - 2)
      if (leaves.isFull(end)) {
        val slots = allocate(2 * leaves.capacity)
        leaves.lengthenTail(partials, slots, end)
      }
    }
    val opened = leaves.tailSlot(end)
    end += 1
    opened
  }

  override def clear(): Unit = {
    super.clear()
    tidyUp(enough = 1)
  }

  override private[mta] def node(level: Int, number: Long): Int =
    queues(level).slot(partials, number)

  override protected def newNode(level: Int, number: Long): Int = {
    if (queues(level) == null) queues(level) = newLevel(level, number)
    if (queues(level).isFull(number)) makeRoom(level, number, number - 2)
    queues(level).tailSlot(number)
  }

  override protected def evictUntil(to: Long): Unit = {
    super.evictUntil(to)
    if (front - tidied >= buffer) tidyUp(enough = buffer / 2)
  }

  private def newLevel(level: Int, start: Long): KvsLevel =
    new KvsLevel(level, store, codec, buffer, start, allocate(buffer))

  /**
   * Forgets the nodes that have left the window. If more than half of the tail is still in use,
   * it then stores the nodes before `until`.
   */
  private def makeRoom(level: Int, end: Long, until: Long): Unit = {
    val queue = queues(level)
    queue.discard(firstNode(level))
    if (queue.isHalfFull(end)) {
      if (queue.needsCache) queue.cacheAt(allocate(buffer))
      queue.spill(partials, until)
    }
  }

  /** Removes evicted nodes from the store, at each level that has at least `enough` of them. */
  private def tidyUp(enough: Int): Unit = {
    tidied = front
    var level = 0
    while (level < queues.length && queues(level) != null) {
      queues(level).remove(firstNode(level), enough)
      level += 1
    }
  }

  private def allocate(slots: Int): Int = {
    if (slots > Int.MaxValue - slotsEnd) {
      throw new IllegalStateException(
        s"a window holds at most ${Int.MaxValue} partial aggregates in local slots"
      )
    }
    val first = slotsEnd
    partials = partials.grow(first + slots)
    slotsEnd = first + slots
    first
  }
}

object KvsAmta {

  /** The size of the paper's buffer. */
  val Buffer: Int = 512

  private val LogElements = 31
}
