package io.sash.papers.fat

import java.util.Arrays

import io.sash.core.elements.SlotRing
import io.sash.core.fat.DyadicIntervals
import io.sash.core.slots.Partials

/**
 * FlatFAT, the flat fixed-sized aggregator: a complete binary tree with the values a[1] … a[n] at
 * its leaves. Each internal node holds the aggregate of the leaves below it. The tree lies in the
 * column without pointers. Nodes are numbered as in a binary heap, and a node's number is its
 * slot.
 *
 * {{{
 *   val fat = new FlatFat(column, 8)
 *   (1 to 8).foreach(i => column.lift(fat.leaf(i), values(i)))
 *   fat.build()
 *   column.lift(fat.leaf(3), value)   // write a[3], then say so
 *   fat.update(Array(3), 1)
 *   column.lower(fat.prefix(7))
 * }}}
 *
 * Invariants, after `build`, once `update` was called for all leaves written since:
 *  - (I1) the root is node 1, the children of node v are 2v and 2v + 1, and a[i] is n + i - 1
 *  - (I2) T(v) = T(2v) ⊗ T(2v + 1) for every internal node v: equation (4.1)
 *
 * Cost in combines: build n - 1, update of m leaves at most m(1 + ⌈log(n/m)⌉), aggregate none. A
 * prefix or suffix takes at most log n, a range at most 2 log n. Space: 2n slots; slot 0 is for
 * answers.
 *
 * Paper: Tangwongsan, Hirzel, Schneider, Wu, ''General Incremental Sliding-Window Aggregation'',
 * section 4.
 *
 * @param capacity n, a power of two
 */
final class FlatFat private (val capacity: Int, owned: Partials) extends DyadicIntervals {
  private[this] var partials = owned.grow(2 * capacity)

  // The working memory of algorithm 2, allocated by the first update: the changed nodes of one
  // level, and for each internal node the last update that changed it.
  private[this] var changing = Array.emptyIntArray
  private[this] var changedBy = Array.emptyIntArray
  private[this] var updates = 0

  def this(initial: Partials, capacity: Int) =
    this(FlatFat.checked(capacity), initial.claimed(Partials.Slots))

  /** Another tree over the same column, which replaces this one. It has not been built. */
  private[fat] def resized(newCapacity: Int): FlatFat = new FlatFat(newCapacity, partials)

  /** The slot of a[i], to be written before `build`, or before `update` is called for it. */
  def leaf(i: Int): Int = {
    requireLocation("leaf", i)
    capacity + i - 1
  }

  /**
   * Algorithm 1, `new`: combines all internal nodes. Every leaf must have been written. If a
   * combine throws, call `build` again before any query.
   */
  def build(): Unit = complete(0, 0, capacity.toLong)

  /**
   * Algorithm 2: combines each ancestor of the changed leaves once. These are the leaves at the
   * first `count` of the locations, in any order.
   *
   * If a combine throws, some ancestors are old and others new. Then update the same locations
   * again, with others if need be, before any query: the tree does not keep the locations.
   */
  def update(locations: Array[Int], count: Int): Unit = {
    if (count < 0 || count > locations.length) {
      throw new IllegalArgumentException(s"update of $count of ${locations.length} locations")
    }
    var k = 0
    while (k < count) {
      requireLocation("update", locations(k))
      k += 1
    }
    update(locations, count, 1, capacity)
  }

  /** The slot that holds a[1] ⊗ … ⊗ a[n]. */
  def aggregate(): Int = 1

  /** The slot that holds a[1] ⊗ … ⊗ a[i], by algorithm 3; valid until the next call. */
  def prefix(i: Int): Int = {
    requireLocation("prefix", i)
    range(1, i)
  }

  /** The slot that holds a[j] ⊗ … ⊗ a[n]; valid until the next call. */
  def suffix(j: Int): Int = {
    requireLocation("suffix", j)
    range(j, capacity)
  }

  /**
   * The slot that holds a[i] ⊗ … ⊗ a[j]. If i > j, it holds suffix(i) ⊗ prefix(j), for a circular
   * buffer that is ''inverted'' (section 5.1.2). Valid until the next call.
   */
  def range(i: Int, j: Int): Int = {
    requireLocation("range", i)
    requireLocation("range", j)
    cover(FlatFat.Answer, i - 1L, if (i <= j) j.toLong else j.toLong + capacity)
  }

  def column: Partials = partials

  /** Moves the tree onto the column that `move` returns. Slot numbers stay the same. */
  def relocate(move: Partials => Partials): Unit = partials = move(partials)

  /**
   * Does the work of `build` and `update` for a batch of adjacent leaves. They are the positions
   * [settled, back) of a circular buffer whose positions [front, back) are occupied.
   */
  private[fat] def append(front: Long, settled: Long, back: Long): Unit =
    complete(front, settled, back)

  /**
   * Algorithm 2 on a circular buffer with `occupied` occupied leaves, from a[first] on. It stops
   * above a leaf at the first ancestor with an unoccupied leaf below it.
   */
  private[fat] def update(locations: Array[Int], count: Int, first: Int, occupied: Int): Unit = {
    startUpdate(locations, count)
    var pending = count
    var leaves = 1 // the number of leaves below a node of this level
    while (pending > 0 && leaves < capacity) {
      leaves *= 2
      var next = 0
      var k = 0
      while (k < pending) {
        val node = changing(k) >> 1
        val offset = (node * leaves - (first - 1)) & (capacity - 1)
        if (changedBy(node) != updates && offset + leaves <= occupied) {
          changedBy(node) = updates
          combine(node, 2 * node, 2 * node + 1)
          changing(next) = node
          next += 1
        }
        k += 1
      }
      pending = next
    }
  }

  private def startUpdate(locations: Array[Int], count: Int): Unit = {
    if (changing.length < count) {
      changing = new Array[Int](math.max(count, math.min(2 * changing.length, capacity)))
    }
    var k = 0
    while (k < count) {
      changing(k) = capacity + locations(k) - 1
      k += 1
    }
    if (changedBy.length == 0) changedBy = new Array[Int](capacity)
    if (updates == Int.MaxValue) {
      Arrays.fill(changedBy, 0)
      updates = 0
    }
    updates += 1
  }

  /** Checks (I2). */
  private[papers] def checkInvariants(isCombined: (Int, Int, Int) => Boolean): Unit =
    assert(allCombined(0, capacity.toLong, isCombined), "(I2)")

  /**
   * The slot of number k of level l: the level's n/2^l nodes begin at n/2^l, and k counts modulo
   * their number (I1).
   */
  override private[sash] def slotOf(level: Int, number: Long): Int = {
    val nodes = capacity >> level
    nodes + (number & (nodes - 1)).toInt
  }

  override protected def combine(dst: Int, left: Int, right: Int): Unit =
    partials.combine(dst, left, right)

  private def requireLocation(call: String, i: Int): Unit =
    if (i < 1 || i > capacity) {
      throw new IllegalArgumentException(s"$call of location $i, not one of 1 to $capacity")
    }
}

object FlatFat {
  private[fat] val Answer: Int = 0

  /** The most leaves of a tree whose nodes all have slot numbers. */
  val MaxCapacity: Int = SlotRing.MaxCapacity / 2

  private def checked(capacity: Int): Int = {
    if (capacity < 1 || capacity > MaxCapacity || (capacity & (capacity - 1)) != 0) {
      throw new IllegalArgumentException(
        s"capacity $capacity is not a power of two from 1 to $MaxCapacity"
      )
    }
    capacity
  }
}
