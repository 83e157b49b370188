package io.sash.papers.fiba

import java.util.Arrays

import io.sash.core.slots.Partials

/**
 * Nodes in memory, in arrays that double. Node k owns the places from k · maxArity on, in the
 * arrays of times and of children and in the column. The slot of its last place holds its
 * aggregate. Nothing is allocated in the steady state.
 *
 * Freed nodes are in a list. The children of a freed node stay with it and join the list when it
 * is reused (the deferred free list of section 6). So `free` and `allocate` take constant time,
 * whatever hangs below the node, and `free` does not look at it.
 *
 * Space: for minimum arity 4, a node takes 112 bytes beside its eight slots.
 */
class ArrayNodeStore private[fiba] (initial: Partials, minArity: Int)
    extends NodeStore(minArity) {
  import ArrayNodeStore._

  protected[this] final val shift = Integer.numberOfTrailingZeros(maxArity)
  private[this] val last = maxArity - 1
  private[this] val maxCapacity = 1 << (30 - shift)

  private[this] var capacity = 16
  private[this] var partials = initial.claimed(Partials.Slots).grow(capacity << shift)
  protected[this] final var times = new Array[Long](capacity << shift)
  protected[this] final var children = new Array[Int](capacity << shift)

  // The four fields of a node are adjacent, since most operations need several of them.
  protected[this] final var fields = new Array[Int](capacity << 2)

  // Numbers 0 to 2 are not nodes: their slots belong to the window.
  private[this] var used = 3
  private[this] val freed = new NodeList

  // The first of the nodes whose slots `reserve` has returned, and their number.
  private[this] var reserved = 0
  private[this] var reservedNodes = 0

  override final def windowSlots: Int = 0

  override final def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  override def allocate(level: Int): Int = {
    val node = if (freed.length == 0) take(1) else reuse()
    fields(node << 2) = 0
    fields((node << 2) + Arity) = 1
    fields((node << 2) + Level) = level << 2
    node
  }

  override def free(node: Int): Unit = freed.add(node)

  /** The number of nodes on the free list, for tests that freeing is deferred. */
  private[fiba] def listed: Int = freed.length

  private def reuse(): Int = {
    val node = freed.removeLast()
    if (level(node) > 0) {
      var i = arity(node) - 1
      while (i >= 0) {
        freed.add(children((node << shift) + i))
        i -= 1
      }
    }
    node
  }

  /** Returns the first of `count` adjacent nodes that have never been used. */
  private def take(count: Int): Int = {
    if (used + count > capacity) grow(used + count)
    val first = used
    used += count
    first
  }

  private def grow(needed: Int): Unit = {
    if (needed > maxCapacity) {
      throw new IllegalStateException(s"a tree has at most $maxCapacity nodes")
    }
    var longer = capacity
    while (longer < needed) longer *= 2
    partials = partials.grow(longer << shift)
    times = Arrays.copyOf(times, longer << shift)
    children = Arrays.copyOf(children, longer << shift)
    fields = Arrays.copyOf(fields, longer << 2)
    capacity = longer // last, since a failed allocation must not change it
  }

  /**
   * Reserves the slots of adjacent nodes. Their number is rounded up to a power of two, so that
   * requests that grow by one do not use up the numbers. Reserved nodes that were too few are
   * freed.
   */
  override def reserve(slots: Int): Int = {
    if (slots > (reservedNodes << shift)) {
      val nodes = math.max(1, Integer.highestOneBit(slots - 1) * 2 >> shift)
      val first = take(nodes)
      while (reservedNodes > 0) {
        reservedNodes -= 1
        fields((reserved + reservedNodes << 2) + Level) = 0
        free(reserved + reservedNodes)
      }
      reserved = first
      reservedNodes = nodes
    }
    reserved << shift
  }

  override def parent(node: Int): Int = fields(node << 2)

  override def detach(node: Int): Unit = fields(node << 2) = 0

  override def arity(node: Int): Int = fields((node << 2) + Arity)

  override def setArity(node: Int, arity: Int): Unit = fields((node << 2) + Arity) = arity

  override def level(node: Int): Int = fields((node << 2) + Level) >> 2

  override def spine(node: Int): Int = fields((node << 2) + Level) & NodeStore.Both

  override def setSpine(node: Int, spine: Int): Unit = {
    val at = (node << 2) + Level
    fields(at) = fields(at) & ~NodeStore.Both | spine
  }

  override def count(node: Int): Int = fields((node << 2) + Count)

  override def setCount(node: Int, count: Int): Unit = fields((node << 2) + Count) = count

  override def child(node: Int, i: Int): Int = children((node << shift) + i)

  override def setChild(node: Int, i: Int, child: Int): Unit = {
    children((node << shift) + i) = child
    fields(child << 2) = node
  }

  override def time(node: Int, i: Int): Long = times((node << shift) + i)

  override def setTime(node: Int, i: Int, time: Long): Unit = times((node << shift) + i) = time

  override def slot(node: Int, i: Int): Int = (node << shift) + i

  override def aggregate(node: Int): Int = (node << shift) + last

  override def changed(node: Int): Unit = ()

  override def copyEntry(src: Int, from: Int, dst: Int, to: Int): Unit =
    copyPlace((src << shift) + from, (dst << shift) + to)

  override def copyEntries(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit = {
    val source = (src << shift) + from
    val target = (dst << shift) + to
    if (target <= source) {
      var i = 0
      while (i < count) {
        copyPlace(source + i, target + i)
        i += 1
      }
    } else {
      var i = count - 1
      while (i >= 0) {
        copyPlace(source + i, target + i)
        i -= 1
      }
    }
  }

  private def copyPlace(source: Int, target: Int): Unit = {
    times(target) = times(source)
    partials.copy(target, source)
  }

  override def copyChildren(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit = {
    val target = (dst << shift) + to
    System.arraycopy(children, (src << shift) + from, children, target, count)
    if (src != dst) {
      var i = 0
      while (i < count) {
        fields(children(target + i) << 2) = dst
        i += 1
      }
    }
  }
}

object ArrayNodeStore {

  /** A store that undoes a failed operation if the column may throw. */
  def apply(initial: Partials, minArity: Int = Fiba.MinArity): ArrayNodeStore =
    if (initial.total) new ArrayNodeStore(initial, minArity)
    else new UndoingNodeStore(initial, minArity)

  // The fields of a node behind its parent. The two lowest bits of the level are the spine.
  private[fiba] final val Arity = 1
  private[fiba] final val Level = 2
  private[fiba] final val Count = 3
}
