package io.sash.papers.fiba

import java.util.Arrays

import io.sash.core.slots.Partials

/**
 * The nodes of a [[Fiba]], in arrays that double. Nothing is allocated in the steady state.
 *
 * A node of arity a has a - 1 entries, each a time and a value. Above the leaves it has a
 * children, and for each child the child's aggregate and the number of entries in it and below
 * it. So a node is computed from its own slots alone, which are adjacent.
 *
 * A leaf is a unit, an inner node two adjacent units. A unit is maxArity words, and as many slots
 * of the column. A node is named by the number of its first word and first slot:
 *  - the words of the first unit are the level with the arity, and then the times
 *  - the words of the second unit are the children, each with its number of entries
 *  - a leaf's slots are its values
 *  - an inner node's slots are, by time: child 0's aggregate, value 0, child 1's aggregate, …
 *  - the last slot of a node is spare
 *
 * The children of a freed node stay with it and join the lists of free nodes when one of them is
 * needed (the deferred free list of section 6). So `free` takes constant time, whatever hangs
 * below the node. `allocate` takes the children of at most one freed node for an inner node, and
 * of at most one for each level for a leaf.
 *
 * Space: for minimum arity 4, a leaf takes 64 bytes beside its eight slots, an inner node twice
 * as much.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation'' (2023), section 3.2 (representation) and
 * section 6 (deferred free list).
 *
 * @param minArity MIN_ARITY, a power of two from 2 to 32
 */
private[fiba] class NodeStore(initial: Partials, final val minArity: Int) {
  if (minArity < 2 || minArity > 32 || Integer.bitCount(minArity) != 1) {
    throw new IllegalArgumentException(
      s"the minimum arity must be a power of two from 2 to 32, not $minArity"
    )
  }

  /** MAX_ARITY: a node has at most this many children, and one entry less. */
  final val maxArity: Int = 2 * minArity

  protected[this] final val shift: Int = Integer.numberOfTrailingZeros(maxArity)
  private[this] val maxCapacity = 1 << (30 - shift)
  private[this] var capacity = 16
  private[this] var partials = initial.claimed(Partials.Slots).grow(capacity << shift)
  protected[this] final var words: Array[Long] = new Array[Long](capacity << shift)

  // Unit 0 is no node: its slots belong to the window.
  private[this] var used = 1

  // Free leaves, free inner nodes, and inner nodes whose children are free as well.
  private[this] val leaves, inners, cut = new NodeList

  // The first of the units whose slots `reserve` has returned, and their number.
  private[this] var reserved = 0
  private[this] var reservedUnits = 0

  final def column: Partials = partials

  /** The column through which an operation writes. */
  def slots: Partials = partials

  /** Moves all slots onto the column that `move` returns. Slot numbers stay the same. */
  final def relocate(move: Partials => Partials): Unit = partials = move(partials)

  /** Whether `begin`, `commit` and `undo` do anything. */
  def undoes: Boolean = false

  /**
   * Begins an operation. `commit` ends it. If the column has thrown, `undo` takes the whole
   * operation back.
   */
  def begin(): Unit = ()
  def commit(): Unit = ()
  def undo(): Unit = ()

  /** Makes a node of arity 1 without entries. Level 0 is a leaf. */
  def allocate(level: Int): Int = {
    val node = if (level == 0) newLeaf() else newInner()
    words(node) = (level << LevelShift) + 1L
    node
  }

  private def newLeaf(): Int = {
    while (leaves.length == 0 && cut.length > 0) open(cut.removeLast())
    if (leaves.length > 0) leaves.removeLast() else take(1) << shift
  }

  private def newInner(): Int = {
    if (inners.length == 0 && cut.length > 0) open(cut.removeLast())
    if (inners.length > 0) inners.removeLast() else take(2) << shift
  }

  private def open(node: Int): Unit = {
    inners.add(node)
    var i = arity(node) - 1
    while (i >= 0) {
      (if (level(node) == 1) leaves else cut).add(child(node, i))
      i -= 1
    }
  }

  /**
   * Frees a node and all below it. A node of arity 0 has nothing below it: among `cut` ones,
   * `allocate` would look through many of them for a leaf.
   */
  def free(node: Int): Unit =
    if (!isLeaf(node) && arity(node) > 0) cut.add(node) else freeAlone(node)

  /** Frees a node, but not its children. */
  protected[this] final def freeAlone(node: Int): Unit =
    (if (isLeaf(node)) leaves else inners).add(node)

  /** The number of nodes on the free lists, for tests that freeing is deferred. */
  final def listed: Int = leaves.length + inners.length + cut.length

  /** Returns the first of `count` adjacent units that have never been used. */
  private def take(count: Int): Int = {
    if (used + count > capacity) grow(used + count)
    val first = used
    used += count
    first
  }

  private def grow(needed: Int): Unit = {
    if (needed > maxCapacity) {
      throw new IllegalStateException(
        s"a tree has at most ${maxCapacity << shift} slots, since an Int numbers them"
      )
    }
    var longer = capacity
    while (longer < needed) longer *= 2
    partials = partials.grow(longer << shift)
    words = Arrays.copyOf(words, longer << shift)
    capacity = longer // last, since a failed allocation must not change it
  }

  /** The first of 3 · maxArity adjacent slots that belong to no node, for good. */
  final def slotsOfSpines(): Int = take(3) << shift

  /**
   * The first of `slots` adjacent slots that belong to no node; valid until the next `reserve`.
   * Their number is rounded up to a power of two, so that requests that grow by one do not use up
   * the numbers. Slots that were too few become leaves.
   */
  final def reserve(slots: Int): Int = {
    if (slots > (reservedUnits << shift)) {
      val units = math.max(1, Integer.highestOneBit(slots - 1) * 2 >> shift)
      val first = take(units)
      while (reservedUnits > 0) {
        reservedUnits -= 1
        leaves.add(reserved + reservedUnits << shift)
      }
      reserved = first
      reservedUnits = units
    }
    reserved << shift
  }

  /** Writes a word. Only `moveWords`, `allocate` and `undo` write words without it. */
  protected[this] def setWord(place: Int, word: Long): Unit = words(place) = word

  protected[this] def moveWords(dst: Int, src: Int, count: Int): Unit =
    System.arraycopy(words, src, words, dst, count)

  /** The node's distance from the leaves. */
  final def level(node: Int): Int = words(node).toInt >> LevelShift

  final def isLeaf(node: Int): Boolean = level(node) == 0

  def arity(node: Int): Int = words(node).toInt & (1 << LevelShift) - 1

  final def setArity(node: Int, arity: Int): Unit =
    setWord(node, words(node) & -(1L << LevelShift) | arity)

  def time(node: Int, i: Int): Long = words(node + 1 + i)

  final def setTime(node: Int, i: Int, time: Long): Unit = setWord(node + 1 + i, time)

  /** The slot of the value of entry i. */
  final def slot(node: Int, i: Int): Int =
    node + (if (isLeaf(node)) i else 2 * i + 1)

  /** The slot of the aggregate of child i, or of the first value of a leaf. */
  final def aggregate(node: Int, i: Int): Int = node + 2 * i

  /** A slot of the node that holds nothing between operations. */
  final def spare(node: Int): Int =
    node + (if (isLeaf(node)) maxArity - 1 else 2 * maxArity - 1)

  private def link(node: Int, i: Int): Int = node + maxArity + i

  def child(node: Int, i: Int): Int = words(link(node, i)).toInt

  /** Sets child i, and its number of entries to 0. */
  final def setChild(node: Int, i: Int, child: Int): Unit = setWord(link(node, i), child.toLong)

  /** The number of entries in child i and below it. It is only kept for nodes on no spine. */
  final def count(node: Int, i: Int): Int = (words(link(node, i)) >>> 32).toInt

  final def addCount(node: Int, i: Int, added: Int): Unit =
    setWord(link(node, i), words(link(node, i)) + (added.toLong << 32))

  /** How many entries of the node are at or before `time`, looked for from the youngest. */
  final def notYounger(node: Int, time: Long): Int = {
    var i = arity(node) - 1
    while (i > 0 && words(node + i) > time) i -= 1
    i
  }

  /** How many entries of the node are older than `time`. */
  final def older(node: Int, time: Long): Int = {
    val i = notYounger(node, time)
    if (isAt(node, i - 1, time)) i - 1 else i
  }

  /** Whether there is an entry i and its time is `time`. */
  final def isAt(node: Int, i: Int, time: Long): Boolean =
    i >= 0 && i < arity(node) - 1 && this.time(node, i) == time

  /** Copies the time and the value of one entry. */
  final def copyEntry(src: Int, from: Int, dst: Int, to: Int): Unit = {
    setTime(dst, to, time(src, from))
    slots.copy(slot(dst, to), slot(src, from))
  }

  /**
   * Copies `count` children, with the entries between them, to a node of the same level. A leaf
   * has no children, so only the entries are copied. The ranges may overlap.
   */
  final def copyChildren(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit =
    if (count > 0) {
      if (count > 1) moveWords(dst + 1 + to, src + 1 + from, count - 1)
      if (isLeaf(src)) {
        if (count > 1) slots.move(dst + to, src + from, count - 1)
      } else {
        moveWords(dst + maxArity + to, src + maxArity + from, count)
        slots.move(dst + 2 * to, src + 2 * from, 2 * count - 1)
      }
    }

  private final val LevelShift = 7
}

private[fiba] object NodeStore {

  /** A store that undoes a failed operation if the column may throw. */
  def apply(initial: Partials, minArity: Int): NodeStore =
    if (initial.total) new NodeStore(initial, minArity)
    else new UndoingNodeStore(initial, minArity)

  /**
   * The greatest height: there are at most 2^28 entries, and nodes have at least two children.
   */
  final val MaxHeight = 32
  final val MaxSize = 1 << 28
}
