package io.sash.core.fiba

import java.util.Arrays

import io.sash.core.Partials

/**
 * Nodes in memory, as a structure of arrays that double: node k owns the places from
 * k · maxArity on, in the arrays of times and children and in the column, where the last place
 * is the slot of its aggregate. Nothing is allocated in the steady state.
 *
 * Freed nodes form a list, linked through `parents`. The children of a freed node stay with it
 * and join the list when it is reused (the deferred free list of section 6), so that `free` and
 * `allocate` take constant time, whatever hangs below the node.
 *
 * Space: for minimum arity 4, a node takes 107 bytes beside its eight slots.
 */
final class ArrayNodeStore(initial: Partials, minArity: Int = 4) extends NodeStore(minArity) {
  private[this] val shift = Integer.numberOfTrailingZeros(maxArity)
  private[this] val last = maxArity - 1
  private[this] val maxCapacity = 1 << (30 - shift)

  private[this] var capacity = 16
  private[this] var partials = initial.grow(capacity << shift)
  private[this] var times = new Array[Long](capacity << shift)
  private[this] var children = new Array[Int](capacity << shift)
  private[this] var parents = new Array[Int](capacity)
  private[this] var counts = new Array[Int](capacity)
  private[this] var arities = new Array[Byte](capacity)
  private[this] var levels = new Array[Byte](capacity)
  private[this] var spines = new Array[Byte](capacity)

  // Numbers 0 to 2 are no nodes: their slots are the window's.
  private[this] var used = 3
  private[this] var firstFree = 0

  // Nodes whose slots are reserved.
  private[this] var reserved = 0
  private[this] var reservedNodes = 0

  override def windowSlots: Int = 0

  override def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  override def allocate(level: Int): Int = {
    val node = if (firstFree == 0) take(1) else reuse()
    arities(node) = 1
    levels(node) = level.toByte
    spines(node) = 0
    parents(node) = 0
    node
  }

  override def free(node: Int): Unit = {
    parents(node) = firstFree
    firstFree = node
  }

  private def reuse(): Int = {
    val node = firstFree
    firstFree = parents(node)
    if (levels(node) > 0) {
      var i = arities(node) - 1
      while (i >= 0) {
        free(children((node << shift) + i))
        i -= 1
      }
    }
    node
  }

  /** The first of `count` adjacent nodes that nobody has used yet. */
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
    while (capacity < needed) capacity *= 2
    partials = partials.grow(capacity << shift)
    times = Arrays.copyOf(times, capacity << shift)
    children = Arrays.copyOf(children, capacity << shift)
    parents = Arrays.copyOf(parents, capacity)
    counts = Arrays.copyOf(counts, capacity)
    arities = Arrays.copyOf(arities, capacity)
    levels = Arrays.copyOf(levels, capacity)
    spines = Arrays.copyOf(spines, capacity)
  }

  /**
   * Slots of adjacent nodes; as many as the next power of two, so that asking for one more each
   * time does not use up the numbers; those that were too few become nodes.
   */
  override def reserve(slots: Int): Int = {
    if (slots > (reservedNodes << shift)) {
      val nodes = math.max(1, Integer.highestOneBit(slots - 1) * 2 >> shift)
      val first = take(nodes)
      while (reservedNodes > 0) {
        reservedNodes -= 1
        levels(reserved + reservedNodes) = 0
        free(reserved + reservedNodes)
      }
      reserved = first
      reservedNodes = nodes
    }
    reserved << shift
  }

  override def level(node: Int): Int = levels(node).toInt

  override def arity(node: Int): Int = arities(node).toInt

  override def setArity(node: Int, arity: Int): Unit = arities(node) = arity.toByte

  override def parent(node: Int): Int = parents(node)

  override def detach(node: Int): Unit = parents(node) = 0

  override def child(node: Int, i: Int): Int = children((node << shift) + i)

  override def setChild(node: Int, i: Int, child: Int): Unit = {
    children((node << shift) + i) = child
    parents(child) = node
  }

  override def time(node: Int, i: Int): Long = times((node << shift) + i)

  override def setTime(node: Int, i: Int, time: Long): Unit = times((node << shift) + i) = time

  override def slot(node: Int, i: Int): Int = (node << shift) + i

  override def aggregate(node: Int): Int = (node << shift) + last

  override def spine(node: Int): Int = spines(node).toInt

  override def setSpine(node: Int, spine: Int): Unit = spines(node) = spine.toByte

  override def count(node: Int): Int = counts(node)

  override def setCount(node: Int, count: Int): Unit = counts(node) = count

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
        parents(children(target + i)) = dst
        i += 1
      }
    }
  }
}
