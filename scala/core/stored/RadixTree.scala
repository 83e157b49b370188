package io.sash.core.stored

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import io.sash.core.slots.{Bytes, Partials, SlotCodec}

/**
 * A stream of partial aggregates in time order, most of it in a key-value store. It is a forest
 * of trees of one fan-out F. Elements are only appended.
 *
 * Entry k of level 0 is element k of the stream. Entry k of a higher level is the aggregate of
 * the entries kF until (k + 1)F of the level below. F entries with one parent are a ''node''. A
 * node is put into the store when its last entry is there. The entries of a level that do not
 * fill a node yet are its ''edge'', in slots. `write` saves the edges and a few numbers; with
 * these, `read` restores the tree.
 *
 * Nobody asks for entries that begin before `kept`. So a node with missing entries has no parent,
 * and a short window has few edges. If the longest window is known, a node of more elements has
 * no parent either: elements that are never in one window might fail to combine.
 *
 * In a ''sparse'' tree elements may be missing. They are skipped and may come later (`amend`),
 * like the panes of a stream that is out of order. An entry over no element is ''empty'': its
 * slot holds the identity. A node of empty entries is not stored. The nodes of a sparse tree
 * change.
 *
 * Invariants:
 *  - (T1) level l has the entries until end / F^l^, and holds the entries from a first one on:
 *    the entry that begins at `kept`, or a later one
 *  - (T2) entries after the last full node are in the edge's slots, others in the store
 *  - (T3) in a sparse tree an entry is empty if and only if its time is `NoElement`
 *
 * Cost in combines: `append` amortised under 1. In calls of the store: `append` puts amortised
 * under 1 / (F - 1) nodes, `keepFrom` removes as many, and `load` gets at most one. At height h,
 * `skipTo` makes at most 2 F h entries, for any number skipped. `amend` takes h combines and
 * reads and puts h nodes, or one node if the element is close to the end. Space: 8 bytes for the
 * time of each partial, beside the partial; 2 F slots for each level that the window has reached.
 *
 * An exception passes through. An `append` that throws has changed nothing. After another
 * exception the tree is undefined until it is read or cleared.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', sections 4.1.5 and 4.2. AMTA's append-only forest, with its tails in memory,
 * lies there in a key-value store, with F = 2.
 *
 * @param logFanOut log2 of F
 * @param holding whether anybody ever asks for an element again
 * @param sparse whether elements may be missing
 * @param longest the most elements that an entry may cover, since nobody asks for the aggregate
 *   of more. 1 makes a queue of elements, where nothing is ever combined
 */
private[sash] final class RadixTree(
    private[this] var partials: Partials,
    codec: SlotCodec,
    store: KeyValueStore,
    val logFanOut: Int,
    holding: Boolean,
    sparse: Boolean = false,
    longest: Long = Long.MaxValue,
    firstSlot: Int = 0
) {
  import RadixTree._

  private[this] val fanOut = 1 << logFanOut
  private[this] val mask = fanOut - 1

  private[this] var slotsEnd = firstSlot
  private[this] var ends = 0L
  private[this] var keeps = 0L
  private[this] var levels = 0

  // each level's edge, and the first entry of the edge that is held
  private[this] var edges = Array.empty[Entries]
  private[this] var held = Array.empty[Int]

  // the node that `entry` read last in each level, and its number
  private[this] var read = Array.empty[Entries]
  private[this] var readNumbers = Array.empty[Long]

  def column: Partials = partials

  /** Moves the tree onto the column that `move` returns. Slot numbers stay the same. */
  def relocate(move: Partials => Partials): Unit = partials = move(partials)

  /** The number of elements so far, skipped ones included. */
  def end: Long = ends

  /** The first element that is held, with all elements after it. */
  def kept: Long = keeps

  /** The number of levels that have had an entry. */
  def height: Int = levels

  /** Allocates slots for the entries of a node. They belong to the caller. */
  def entries(): Entries = {
    val first = allocate(fanOut)
    new Entries(first, new Array[Long](fanOut))
  }

  /** Allocates a slot, which belongs to the caller. */
  def slot(): Int = allocate(1)

  /** Forgets all elements here. The store stays as it is. */
  def clear(): Unit = {
    ends = 0L
    keeps = 0L
    levels = 0
    java.util.Arrays.fill(readNumbers, NoNode)
  }

  /** Begins an empty tree whose first element will have this position. */
  def startAt(position: Long): Unit = {
    clear()
    ends = position
    keeps = position
  }

  /** Returns the slot for the next element. */
  def open(): Int = {
    makeLevel(0)
    edges(0).slot(index(ends))
  }

  /** Appends the element that was lifted into the open slot. */
  def append(time: Long): Unit = {
    val i = index(ends)
    if (holding) {
      if (levels == 0) startLevel(0, i)
      edges(0).times(i) = time
      if (i == mask) completeNode(0, ends >> logFanOut, held(0))
    }
    ends += 1
  }

  /** Moves the end to `position`. The elements that this skips are missing. */
  def skipTo(position: Long): Unit = {
    if (levels == 0 && ends < position) startLevel(0, index(ends))
    while (ends < position) {
      val level = highestLevel(ends, position)
      val i = index(ends >> shiftOf(level))
      clearEntry(edges(level), i)
      if (i == mask) completeNode(level, ends >> shiftOf(level + 1), held(level))
      ends += 1L << shiftOf(level)
    }
  }

  /** Combines a partial into a held element before the end, behind the element's own partial. */
  def amend(position: Long, slot: Int): Unit = {
    var level = 0
    while (level < levels && holds(level, position)) {
      val number = position >> shiftOf(level)
      val node = nodeOf(level, number)
      val i = index(number)
      partials.combine(node.slot(i), node.slot(i), slot)
      node.times(i) = math.min(node.times(i), position)
      if (node ne edges(level)) store.put(level, number >> logFanOut, Array(encode(node, 0)))
      level += 1
    }
  }

  /**
   * The first element at or after `position` that is not missing, or the end if there is none.
   */
  def next(position: Long): Long = {
    var at = position
    while (at < ends) {
      val level = highestLevel(at, ends)
      val number = at >> shiftOf(level)
      val first = nodeOf(level, number).times(index(number))
      if (first != NoElement) return first
      at += 1L << shiftOf(level)
    }
    ends
  }

  /** Drops the elements before `position`, which is not before `kept`. */
  def keepFrom(position: Long): Unit = {
    if (sparse && position - keeps > 2 * fanOut) removeFar(position) else removeNear(position)
    keeps = position
  }

  private def removeNear(position: Long): Unit = {
    var level = 0
    while (level < levels) {
      val shift = shiftOf(level + 1)
      val (first, until) = (keeps >> shift, position >> shift)
      if (first < until) store.remove(level, first, until)
      level += 1
    }
  }

  /** Removes the nodes that hold elements, since any number of elements may be missing. */
  private def removeFar(position: Long): Unit = {
    val elements = ArrayBuffer(keeps) // one element of each node of level 0
    var at = next(keeps)
    while (at < position) {
      elements += at
      at = next(((at >> logFanOut) + 1) << logFanOut)
    }
    var level = 0
    while (level < levels) {
      val shift = shiftOf(level + 1)
      elements.map(_ >> shift).distinct.takeWhile(_ < (position >> shift)).foreach { number =>
        store.remove(level, number, number + 1)
      }
      level += 1
    }
  }

  /** The position at which an entry begins. */
  def position(level: Int, entry: Long): Long = entry << shiftOf(level)

  /** Copies the held entries of a node, as far as it has them, into the caller's entries. */
  def load(level: Int, number: Long, to: Entries): Unit =
    if (number == edgeNumber(level)) {
      val edge = edges(level)
      var i = held(level)
      while (i < edgeEnd(level)) {
        partials.copy(to.slot(i), edge.slot(i))
        to.times(i) = edge.times(i)
        i += 1
      }
    } else if (number == readNumbers(level) && (to ne read(level))) {
      val node = read(level)
      var i = 0
      while (i < fanOut) {
        partials.copy(to.slot(i), node.slot(i))
        to.times(i) = node.times(i)
        i += 1
      }
    } else {
      val bytes = store.get(level, number, 1)(0)
      if (bytes == null && sparse) clearEntries(to, 0, fanOut) else decode(bytes, to)
    }

  /** `dst <-` the aggregate of the elements in [from, until). There is at least one. */
  def aggregate(dst: Int, from: Long, until: Long): Unit = {
    var position = from
    while (position < until) {
      val level = highestLevel(position, until)
      val slot = entry(level, position >> shiftOf(level))
      if (position == from) partials.copy(dst, slot) else partials.combine(dst, dst, slot)
      position += 1L << shiftOf(level)
    }
  }

  /** The slot of a held element; valid until the next call. */
  def element(position: Long): Int = entry(0, position)

  /** Whether a held element is in the edge of level 0, and so in no node yet. */
  def isInEdge(position: Long): Boolean = position >> logFanOut == edgeNumber(0)

  /** The time of a held element. */
  def timeOf(position: Long): Long = nodeOf(0, position).times(index(position))

  /** The first held element in [from, until) whose time is at least `time`, else `until`. */
  def firstAt(time: Long, from: Long, until: Long): Long = {
    // elements before `low` are before `time`, elements from `high` on are not
    var (low, high) = (from, until)
    var level = levels - 1
    while (level >= 0) {
      val shift = shiftOf(level)
      var first = (low + (1L << shift) - 1) >> shift
      var end = math.min((high + (1L << shift) - 1) >> shift, ends >> shift)
      while (first < end) {
        val middle = (first + end) >>> 1
        if (nodeOf(level, middle).times(index(middle)) < time) {
          low = (middle << shift) + 1
          first = middle + 1
        } else {
          high = middle << shift
          end = middle
        }
      }
      level -= 1
    }
    high
  }

  def write(out: Bytes): Unit = {
    out.putNumber(ends)
    out.putNumber(keeps)
    out.putNumber(levels)
    var level = 0
    while (level < levels) {
      val first = firstHeld(level)
      out.putNumber(first)
      writeEntries(out, edges(level), first, edgeEnd(level))
      level += 1
    }
  }

  def read(in: ByteBuffer): Unit = {
    clear()
    ends = Bytes.number(in)
    keeps = Bytes.number(in)
    val count = Bytes.number(in).toInt
    while (levels < count) {
      val first = Bytes.number(in).toInt
      startLevel(levels, first)
      readEntries(in, edges(levels - 1), first, edgeEnd(levels - 1))
    }
  }

  /** Writes some entries of a node. `readEntries` reads them. */
  def writeEntries(out: Bytes, from: Entries, first: Int, until: Int): Unit = {
    if (sparse && first < until) out.putLong(present(from, first, until))
    var before = 0L // each time is stored as its difference from the last
    var i = first
    while (i < until) {
      if (from.times(i) != NoElement) {
        out.putSigned(from.times(i) - before)
        before = from.times(i)
        writeSlot(out, from.slot(i))
      }
      i += 1
    }
  }

  def readEntries(in: ByteBuffer, to: Entries, first: Int, until: Int): Unit = {
    val present = if (sparse && first < until) in.getLong() else -1L
    var before = 0L
    var i = first
    while (i < until) {
      if ((present >> i & 1L) == 0L) {
        clearEntry(to, i)
      } else {
        before += Bytes.signed(in)
        to.times(i) = before
        readSlot(in, to.slot(i))
      }
      i += 1
    }
  }

  /** One bit for each entry; it is set if the entry is not empty. */
  private def present(entries: Entries, first: Int, until: Int): Long = {
    var bits = 0L
    var i = first
    while (i < until) {
      if (entries.times(i) != NoElement) bits |= 1L << i
      i += 1
    }
    bits
  }

  private def clearEntries(entries: Entries, first: Int, until: Int): Unit = {
    var i = first
    while (i < until) {
      clearEntry(entries, i)
      i += 1
    }
  }

  private def clearEntry(entries: Entries, i: Int): Unit = {
    partials.identity(entries.slot(i))
    entries.times(i) = NoElement
  }

  def writeSlot(out: Bytes, slot: Int): Unit = codec.write(partials, slot, out)

  def readSlot(in: ByteBuffer, slot: Int): Unit = codec.read(partials, slot, in)

  /**
   * Completes the node that the next element, or a skipped entry, fills. Makes the node's parent,
   * stores the node, and goes on with the node above if the parent fills that. Every step that
   * may throw comes before the first change to the tree's counts.
   *
   * @param first the first entry of the node that is held
   */
  private def completeNode(level: Int, number: Long, first: Int): Unit = {
    val above = level + 1
    val i = index(number)
    val hasParent =
      first == 0 && 1L << shiftOf(above) <= longest && position(above, number) >= keeps
    if (hasParent) makeParent(level, above, i)
    if (first < fanOut && firstTime(edges(level), first) != NoElement) {
      store.put(level, number, Array(encode(edges(level), first)))
    }
    if (hasParent || above < levels) {
      val firstAbove = if (!hasParent) i + 1 else if (above < levels) held(above) else i
      if (i == mask) completeNode(above, number >> logFanOut, firstAbove)
      else held(above) = firstAbove
      levels = math.max(levels, above + 1)
    }
    held(level) = 0
  }

  /** `parent <-` the aggregate of all entries of the edge of the level below. */
  private def makeParent(level: Int, above: Int, i: Int): Unit = {
    makeLevel(above)
    val (parent, children) = (edges(above), edges(level))
    partials.copy(parent.slot(i), children.slot(0))
    partials.foldRange(parent.slot(i), children.slot(1), children.slot(mask))
    parent.times(i) = firstTime(children, 0)
  }

  /** The time of the first element under the entries of a node, from entry `first` on. */
  private def firstTime(entries: Entries, first: Int): Long = {
    var i = first
    while (i < mask && entries.times(i) == NoElement) i += 1
    entries.times(i)
  }

  private def startLevel(level: Int, firstEntry: Int): Unit = {
    makeLevel(level)
    held(level) = firstEntry
    levels = level + 1
  }

  private def makeLevel(level: Int): Unit = if (level == edges.length) {
    val (edge, node) = (entries(), entries()) // if there is no memory, nothing has changed
    edges :+= edge
    held :+= 0
    read :+= node
    readNumbers :+= NoNode
  }

  /** The first of the edge's entries that somebody may still ask for. */
  private def firstHeld(level: Int): Int = {
    val inEdge = ((keeps + (1L << shiftOf(level)) - 1) >> shiftOf(level)) -
      (edgeNumber(level) << logFanOut)
    math.max(held(level).toLong, math.min(inEdge, edgeEnd(level).toLong)).toInt
  }

  /** The highest level with an entry that begins at `position` and ends by `until`. */
  def highestLevel(position: Long, until: Long): Int = {
    var level = 0
    while (
      level + 1 < levels && {
        val width = 1L << shiftOf(level + 1)
        (position & (width - 1)) == 0 && position + width <= until
      }
    ) level += 1
    level
  }

  /** The slot of a held entry; valid until the next call. */
  def entry(level: Int, number: Long): Int = nodeOf(level, number).slot(index(number))

  /** The node of a held entry; valid until the next call. */
  private def nodeOf(level: Int, entry: Long): Entries = {
    val number = entry >> logFanOut
    if (number == edgeNumber(level)) {
      edges(level)
    } else {
      if (readNumbers(level) != number) {
        load(level, number, read(level))
        readNumbers(level) = number
      }
      read(level)
    }
  }

  private def encode(entries: Entries, first: Int): Array[Byte] = {
    val out = new Bytes
    out.putNumber(first)
    writeEntries(out, entries, first, fanOut)
    out.toArray
  }

  private def decode(bytes: Array[Byte], to: Entries): Unit = {
    val in = ByteBuffer.wrap(bytes)
    val first = Bytes.number(in).toInt
    if (sparse) clearEntries(to, 0, first)
    readEntries(in, to, first, fanOut)
  }

  private def allocate(slots: Int): Int = {
    val first = slotsEnd
    slotsEnd += slots
    partials = partials.grow(slotsEnd)
    first
  }

  /** Whether a level has the entry over an element, and somebody may still ask for that entry. */
  private def holds(level: Int, position: Long): Boolean = {
    val number = position >> shiftOf(level)
    number < (ends >> shiftOf(level)) && this.position(level, number) >= keeps
  }

  private def index(entry: Long): Int = (entry & mask).toInt

  private def shiftOf(level: Int): Int = level * logFanOut

  /** The number of the node whose first entries are in the edge. */
  private def edgeNumber(level: Int): Long = ends >> shiftOf(level + 1)

  private def edgeEnd(level: Int): Int = index(ends >> shiftOf(level))
}

private[sash] object RadixTree {
  private val NoNode: Long = -1L

  /** The time of an empty entry, which is over no element. */
  private[sash] val NoElement: Long = Long.MaxValue
}

/** The entries of one node: adjacent slots, and the time of the first element in each entry. */
private[sash] final class Entries(first: Int, val times: Array[Long]) {
  def slot(i: Int): Int = first + i
}
