package io.sash.core.slots

import java.nio.ByteBuffer
import java.util.Arrays

/**
 * Virtual memory for slots. All slots live in a store, page by page, and a few pages are resident
 * in ordinary slots. `read` and `written` map a slot's number to its present resident slot.
 *
 * Every algorithm of this library walks its queue from an end, so a pass reads a page once.
 *
 * Invariants:
 *  - (P1) frameOf(page) is the frame that holds the page, or -1; pageIn(frame) is its inverse
 *  - (P2) a page that is not resident is in the store, or was never written
 *  - (P3) the three pages used last are resident, so no operation evicts one of its own operands
 *
 * @param inMemory the slots for the resident pages; the owner makes room for `resident` slots
 * @param size slots in a page, a power of two
 */
private[sash] final class Pages(
    inMemory: Slots,
    codec: SlotCodec,
    store: PageStore,
    size: Int = Pages.Size
) {
  import Pages._

  private[this] var frameOf = Array.emptyIntArray
  private[this] var stored = Array.emptyBooleanArray
  private[this] val pageIn = Array.fill(Frames)(-1)
  private[this] val usedAt = new Array[Long](Frames)
  private[this] val dirty = new Array[Boolean](Frames)
  private[this] var clock = 0L
  private[this] val logSize = Integer.numberOfTrailingZeros(size)

  /** The number of slots in memory. */
  def resident: Int = Frames * size

  /** Makes room for at least this many slots. */
  def grow(slots: Int): Unit = {
    val pages = ((slots - 1) >> logSize) + 1
    val before = frameOf.length
    if (pages > before) {
      frameOf = Arrays.copyOf(frameOf, pages)
      Arrays.fill(frameOf, before, pages, -1)
      stored = Arrays.copyOf(stored, pages)
    }
  }

  /** The resident slot of `slot`, for writing. Its page is marked to be stored. */
  def written(slot: Int): Int = {
    val at = read(slot)
    dirty(at >> logSize) = true
    at
  }

  /** The resident slot of `slot`, for reading. Its page is read in if it is not resident. */
  def read(slot: Int): Int = {
    val page = slot >> logSize
    var frame = frameOf(page)
    if (frame < 0) frame = bringIn(page)
    clock += 1
    usedAt(frame) = clock
    (frame << logSize) + (slot & (size - 1))
  }

  private def bringIn(page: Int): Int = {
    val frame = leastRecentlyUsed()
    if (pageIn(frame) >= 0) {
      if (dirty(frame)) writeOut(frame)
      frameOf(pageIn(frame)) = -1
      pageIn(frame) = -1
    }
    if (stored(page)) readIn(page, frame)
    pageIn(frame) = page
    frameOf(page) = frame
    dirty(frame) = false
    frame
  }

  private def leastRecentlyUsed(): Int = {
    var oldest = 0
    var i = 1
    while (i < Frames) {
      if (usedAt(i) < usedAt(oldest)) oldest = i
      i += 1
    }
    oldest
  }

  private def writeOut(frame: Int): Unit = {
    val out = new Bytes
    var i = 0
    while (i < size) {
      codec.write(inMemory, (frame << logSize) + i, out)
      i += 1
    }
    val bytes = out.toArray
    store.store(pageIn(frame), bytes, bytes.length)
    stored(pageIn(frame)) = true
  }

  private def readIn(page: Int, frame: Int): Unit = {
    val in = ByteBuffer.wrap(store.fetch(page))
    var i = 0
    while (i < size) {
      codec.read(inMemory, (frame << logSize) + i, in)
      i += 1
    }
  }
}

private[sash] object Pages {

  /** Slots in a page, if slots are small. */
  val Size: Int = 256

  /** The number of resident pages. */
  val Frames: Int = 16

  /**
   * Slots in a page, at most `Size`, so that resident pages take about `budget` bytes together.
   */
  def sizeFor(slotBytes: Long, budget: Long): Int =
    java.lang.Long
      .highestOneBit(
        math.max(1L, math.min(Size.toLong, budget / Frames / math.max(1L, slotBytes)))
      )
      .toInt
}
