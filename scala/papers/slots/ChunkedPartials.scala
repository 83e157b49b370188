package io.sash.papers.slots

import io.sash.core.slots.{Partials, Slots}

/**
 * A column of chunks of 1024 slots, each chunk a column of its own. It grows by a chunk and
 * copies nothing. So `Daba` and `DabaLite` over it take constant time in the worst case even
 * while a window grows. They also give memory back as the window shrinks. Other algorithms run
 * over it, too, but gain only that growth does not copy.
 * {{{
 *   val column = new ChunkedPartials(() => new MyColumn)
 *   val window = new DabaLite(column)
 *   val slot = window.open()
 *   column.chunk(slot).lift(column.at(slot), value)
 *   window.insert()
 * }}}
 * Cost: every operation reads two entries of a directory. `combine` copies each operand that is
 * not in the chunk of `dst`. Opening a chunk makes 1024 slots and, at every 1024th chunk, a part
 * of the directory of 1024 entries. Neither cost depends on the length of a window. Space: the
 * open chunks, at most two spare chunks, and the directory. The directory keeps its parts until
 * `clear` and has at most 2^20 entries.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 4,
 * definition 1: over chunked arrays the operations of the queue take constant time in the worst
 * case.
 *
 * @param make makes the column of a chunk, the same kind each time. The column implements
 *   `copyFrom`, and its `grow` returns the column itself
 */
class ChunkedPartials[C <: Partials] private[papers] (make: () => C, logSize: Int)
    extends Partials
    with Chunked {
  import ChunkedPartials._

  private[this] val size = 1 << logSize
  private[this] val logPart = logSize + LogEntries

  /** Enough parts for all slots of the longest ring and the reserved slots. */
  private[this] val parts = (Slots.MaxCapacity >>> logPart) + 1

  private[this] var directory = new Array[Array[Partials]](parts)
  private[this] val spares = new Array[Partials](Spares)
  private[this] var spare = 0

  /** The number of slots in the chunks that `grow` has opened. */
  private[this] var grown = size

  openChunk(0)

  def this(make: () => C) = this(make, ChunkedPartials.LogSize)

  /** The column that holds the slot. */
  final def chunk(slot: Int): C = directory(slot >>> logPart)(entry(slot)).asInstanceOf[C]

  /** The number of the slot in its chunk. */
  final def at(slot: Int): Int = slot & (size - 1)

  private def entry(slot: Int): Int = (slot >>> logSize) & (Entries - 1)

  override def total: Boolean = chunk(0).total

  override final def identity(dst: Int): Unit = chunk(dst).identity(at(dst))

  override final def combine(dst: Int, left: Int, right: Int): Unit = {
    val to = chunk(dst)
    to.combine(at(dst), brought(to, left, size), brought(to, right, size + 1))
  }

  /**
   * The place of an operand in the chunk `to`. From another chunk it is copied to `otherwise`.
   */
  private def brought(to: C, slot: Int, otherwise: Int): Int = {
    val from = chunk(slot)
    if (from eq to) {
      at(slot)
    } else {
      to.copyFrom(from, otherwise, at(slot))
      otherwise
    }
  }

  override final def copy(dst: Int, src: Int): Unit =
    chunk(dst).copyFrom(chunk(src), at(dst), at(src))

  override final def grow(slots: Int): this.type = {
    while (grown < slots) {
      openChunk(grown)
      grown += size
    }
    this
  }

  override final def shrink(slots: Int): Unit =
    while (grown - size >= math.max(slots, size)) {
      grown -= size
      closeChunk(grown)
    }

  override private[papers] final def chunkSize: Int = size

  override private[papers] final def openChunk(slot: Int): Unit = {
    var part = directory(slot >>> logPart)
    if (part == null) {
      part = new Array[Partials](Entries)
      directory(slot >>> logPart) = part
    }
    if (part(entry(slot)) == null) part(entry(slot)) = newChunk()
  }

  private def newChunk(): Partials =
    if (spare > 0) {
      spare -= 1
      val chunk = spares(spare)
      spares(spare) = null
      chunk
    } else {
      make().grow(size + 2) // two slots for operands from other chunks
    }

  override private[papers] final def closeChunk(slot: Int): Unit = {
    val part = directory(slot >>> logPart)
    if (spare < Spares) {
      spares(spare) = part(entry(slot))
      spare += 1
    }
    part(entry(slot)) = null
  }

  override private[papers] final def closeChunks(): Unit = {
    val first = chunk(0)
    val part = new Array[Partials](Entries)
    part(0) = first
    directory = new Array[Array[Partials]](parts)
    directory(0) = part
    grown = size
  }
}

private[papers] object ChunkedPartials {

  /** Log2 of the slots in a chunk: large enough to open few, small enough to zero one quickly. */
  final val LogSize = 10

  /** Log2 of the entries in a part of the directory. */
  private final val LogEntries = 10
  private final val Entries = 1 << LogEntries

  /**
   * As many chunks as a window may close before it opens one: one for each slot of an element.
   */
  private final val Spares = 2
}
