package io.sash.core.mta

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Partials, SlotCodec}

/**
 * One level queue of KVS-AMTA, in three sections. The newest nodes are in a ring of local slots,
 * the tail, which is also the buffer for the next batch. Older nodes are in the store. The oldest
 * stored nodes are also in another local ring, the cache.
 *
 * Invariants:
 *  - (K1) nodes from `stored` on live in the tail
 *  - (K2) existing nodes below `stored` live in the store, which has no nodes below `removed`
 *  - (K3) cached <= cachedEnd <= stored, and cachedEnd - cached <= buffer: the nodes from
 *    `cached` to before `cachedEnd` live in the cache as well
 *
 * @param buffer slots of each ring, a power of two
 * @param start the first existing node of the level
 * @param tailSlots the first slot of the tail's ring
 */
private[mta] final class KvsLevel(
    level: Int,
    store: KeyValueStore,
    codec: SlotCodec,
    buffer: Int,
    start: Long,
    tailSlots: Int
) {
  private[this] var tail = tailSlots
  private[this] var tailCapacity = buffer
  private[this] var cache = -1
  private[this] var removed = start
  private[this] var stored = start
  private[this] var cached = start
  private[this] var cachedEnd = start
  private[this] var ahead = 1 // the length of the last read

  def isFull(node: Long): Boolean = node - stored >= tailCapacity

  def needsCache: Boolean = cache < 0

  def cacheAt(slots: Int): Unit = cache = slots

  def tailSlot(node: Long): Int = tail + (node.toInt & (tailCapacity - 1))

  /** The slot of an existing node. A slot in the cache is valid until the next call. */
  def slot(column: Partials, node: Long): Int =
    if (node >= stored) tailSlot(node) else cachedSlot(column, node)

  /** Whether the nodes before `end` take more than half of the tail. */
  def isHalfFull(end: Long): Boolean = end - stored > tailCapacity / 2

  /** Forgets the nodes before `first`, here and in the store. */
  def discard(first: Long): Unit = {
    remove(first, 1)
    if (stored < first) {
      stored = first
      removed = first
    }
  }

  /** Stores the nodes before `until`. */
  def spill(column: Partials, until: Long): Unit =
    if (stored < until) {
      val values = new Array[Array[Byte]]((until - stored).toInt)
      val value = new Bytes
      var i = 0
      while (i < values.length) {
        codec.write(column, tailSlot(stored + i), value.clear())
        values(i) = value.toArray
        i += 1
      }
      store.put(level, stored, values)
      stored = until
    }

  /** Removes the nodes before `first` from the store, if these are at least `enough` nodes. */
  def remove(first: Long, enough: Int): Unit = {
    val useless = math.min(first, stored)
    if (useless - removed >= enough) {
      store.remove(level, removed, useless)
      removed = useless
    }
  }

  /** Moves the tail, which ends at `end`, to a ring of twice the size. */
  def lengthenTail(column: Partials, slots: Int, end: Long): Unit = {
    val mask = 2 * tailCapacity - 1
    var node = stored
    while (node < end) {
      column.copy(slots + (node.toInt & mask), tailSlot(node))
      node += 1
    }
    tail = slots
    tailCapacity = mask + 1
  }

  /** The number of slots in the tail's ring. */
  def capacity: Int = tailCapacity

  /**
   * The cache slot of a node. After a jump it reads two nodes. In a walk it reads on each time
   * half of the last read is used: twice as many nodes each time, until the cache is full.
   */
  private def cachedSlot(column: Partials, node: Long): Int = {
    if (node < cached || node > cachedEnd + ahead) ahead = 1
    if (node < cached || node > cachedEnd) {
      cached = node
      cachedEnd = node
    }
    if (cachedEnd - node <= ahead / 2 && cachedEnd < stored) readAhead(column, node)
    cacheSlot(node)
  }

  private def readAhead(column: Partials, node: Long): Unit = {
    val further = math.min(2 * ahead, buffer)
    val until = math.min(node + further, stored)
    val values = store.get(level, cachedEnd, (until - cachedEnd).toInt)
    cached = math.max(cached, until - buffer)
    var i = 0
    while (i < values.length) {
      codec.read(column, cacheSlot(cachedEnd + i), ByteBuffer.wrap(values(i)))
      i += 1
    }
    cachedEnd = until
    ahead = further
  }

  private def cacheSlot(node: Long): Int = cache + (node.toInt & (buffer - 1))
}
