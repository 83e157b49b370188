package io.sash.papers.fiba

import java.util.Arrays

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.Partials
import io.sash.papers.algebra.{Column, Commutative, TimedWindow}
import io.sash.papers.elements.OutOfOrderWindow

/**
 * FiBA, the finger B-tree aggregator, with bulk eviction and bulk insertion. Elements arrive in
 * any order and are kept in the order of their timestamps. Any number of them may leave at once.
 *
 * A value enters in two steps, so that it is lifted straight into the column:
 * {{{
 *   val slot = window.open()
 *   column.lift(slot, value)     // the owner of the column fills it
 *   window.insert(time)
 *
 *   val first = window.openBulk(times.length)
 *   for (i <- times.indices) column.lift(first + i, values(i))
 *   window.bulkInsert(times, times.length)
 * }}}
 * If the window already has an element of the same timestamp, the new one is combined into it,
 * from the right.
 *
 * Invariants, between operations:
 *  - (I1) height: all leaves are at the same distance from the root
 *  - (I2) order: times ascend within a node, and lie between the neighbouring times of the parent
 *  - (I3) arity: from μ = minArity to 2μ. The root, the right spine and the left finger have 2 or
 *    more, so that appends fill whole nodes and evictions use up whole leaves. An empty window is
 *    a leaf of arity 1
 *  - (I4) aggregates: every node has the aggregate of its location, see `Aggregates`
 *  - (I5) a parent knows the number of entries in and below each child on no spine. So `size` is
 *    exact after a bulk eviction that does not visit the evicted entries
 *
 * If an operation of the column throws, the window and its open slots are as they were before the
 * call. For that, if the column is not `total`, an operation copies each slot before it writes to
 * it. Two operations do not: an append of one value to a leaf with room, and an eviction of one
 * that the left finger can spare. There are no additional combines. If memory or slot numbers run
 * out, a window over a `total` column is broken: drop it.
 *
 * If ⊗ commutes, one late value is combined into the aggregates above it on its way to the root
 * or the right spine, one combine for each. The paper computes these aggregates anew.
 *
 * Cost, amortised, for a window of n elements, where d is an element's distance to the nearer
 * end:
 *  - query: at most 2 combines
 *  - in-order insert and evict: O(1)
 *  - insert and remove: O(log d)
 *  - bulkEvict of m elements: O(log m)
 *  - bulkInsert of m elements: O(log d + m(1 + log(d/m)))
 *  - range: O(log d + log e), where d and e are the distances of the range's ends to the nearer
 *    ends of the window. If both are nearer to the same end, only the farther one counts
 *
 * At worst each is O(log n), and bulkInsert O(m log((m + n)/m) + log d). Space: 2μ slots for a
 * leaf, 4μ for an inner node. While a window slides in order, each node has 2μ - 2 elements.
 *
 * A window holds at most 2^28 elements, in 2^30 slots, since an Int numbers them. So the 10^9
 * elements of the paper's largest window are refused: they would take 1.5 · 10^9 slots at μ = 4.
 *
 * Paper: Tangwongsan, Hirzel, Schneider, ''Out-of-Order Sliding-Window Aggregation with Efficient
 * Bulk Evictions and Insertions'', PVLDB 2023, sections 3 to 6.
 */
final class Fiba private[fiba] (store: NodeStore, commutes: Boolean) extends OutOfOrderWindow {
  private[fiba] val tree = new FingerTree(store)
  private[this] val appending = new Append(tree)
  private[this] val insertion = new Insertion(tree, commutes)
  private[this] val bulkInsertion = new BulkInsert(tree)
  private[this] val eviction = new BulkEvict(tree)
  private[this] val removal = new Removal(tree)
  private[this] val ranges = new RangeQuery(tree)

  // Undoes an operation of several steps if one of them throws.
  private[this] val takingBack: PartialFunction[Throwable, Unit] = { case e =>
    tree.undo()
    throw e
  }

  private[this] var isOpen = false
  private[this] var openSlots = 0
  private[this] var firstOpen = 0
  private[this] var distinct = new Array[Long](0)

  tree.plant()

  /**
   * A window over a column.
   *
   * @param minArity μ, a power of two from 2 to 32
   * @param commutes whether x ⊗ y = y ⊗ x for all of the column's values. Doubles do up to
   *   rounding, and up to an overflow: two values may be combined before one between them
   */
  def this(initial: Partials, minArity: Int = Fiba.MinArity, commutes: Boolean = false) =
    this(NodeStore(initial, minArity), commutes)

  override def size: Int = tree.size

  def isEmpty: Boolean = tree.size == 0

  override def column: Partials = store.column

  /** Moves the window onto the column that `move` returns. Slot numbers stay the same. */
  def relocate(move: Partials => Partials): Unit = store.relocate(move)

  override def oldest: Long = {
    requireNonEmpty("oldest")
    tree.oldest
  }

  override def youngest: Long = {
    requireNonEmpty("youngest")
    tree.youngest
  }

  override def open(): Int = {
    requireRoom(1)
    isOpen = true
    tree.opened
  }

  override def discard(): Unit = isOpen = false

  override def insert(time: Long): Unit = {
    if (!isOpen) throw new IllegalStateException("insert() without an open slot; call open()")
    if (isLast(time) && appending.hasRoom) appending.append(time, tree.opened)
    else
      try {
        tree.begin()
        insert(time, tree.opened)
        store.commit()
      } catch takingBack
    isOpen = false
  }

  private def insert(time: Long, slot: Int): Unit =
    if (isLast(time)) appending.append(time, slot)
    else if (time == tree.youngest) appending.merge(slot)
    else insertion.insert(time, slot)

  private def isLast(time: Long): Boolean = tree.size == 0 || time > tree.youngest

  override def openBulk(count: Int): Int = {
    if (count < 0)
      throw new IllegalArgumentException(s"openBulk($count): a count is not negative")
    requireRoom(count)
    firstOpen = store.reserve(math.max(1, count))
    openSlots = count
    firstOpen
  }

  override def bulkInsert(times: Array[Long], count: Int): Unit = {
    requireBulk(times, count)
    try {
      tree.begin()
      insertAll(times, count)
      store.commit()
    } catch takingBack
    openSlots = 0
  }

  private def insertAll(times: Array[Long], count: Int): Unit = {
    val length = if (strictlyAscending(times, count)) count else combineEqual(times, count)
    val ascending = if (length == count) times else distinct
    if (length == 1) {
      insert(ascending(0), firstOpen)
    } else {
      val late = lateCount(ascending, length)
      bulkInsertion.insert(ascending, late, firstOpen)
      appending.appendAll(ascending, late, length, firstOpen)
    }
  }

  override def evict(): Unit = {
    requireNonEmpty("evict()")
    if (tree.spare > 0) eviction.evict()
    else
      try {
        tree.begin()
        eviction.evict()
        store.commit()
      } catch takingBack
  }

  override def bulkEvict(time: Long): Unit =
    if (tree.size > 0 && time >= tree.oldest)
      try {
        tree.begin()
        eviction.evict(time)
        store.commit()
      } catch takingBack

  override def remove(time: Long): Unit = {
    val inside = tree.size > 0 && time >= tree.oldest && time <= tree.youngest
    if (!inside) throw missing(time)
    if (time == tree.oldest) evict() else removeInside(time)
  }

  private def removeInside(time: Long): Unit =
    try {
      tree.begin()
      if (!removal.remove(time)) throw missing(time)
      store.commit()
    } catch takingBack

  private def missing(time: Long): NoSuchElementException =
    new NoSuchElementException(s"remove($time): no element has this timestamp")

  override def query(): Int = tree.query()

  override def range(from: Long, to: Long): Int =
    if (tree.size == 0 || from > to || from > tree.youngest || to < tree.oldest) {
      ranges.identity()
    } else {
      ranges.query(math.max(from, tree.oldest), math.min(to, tree.youngest))
    }

  override def foreach(visit: (Long, Int) => Unit): Unit = tree.foreach(tree.root, visit)

  override def clear(): Unit = {
    store.free(tree.root)
    tree.plant()
    isOpen = false
    openSlots = 0
  }

  /** How many of the times are at or before the youngest element. */
  private def lateCount(times: Array[Long], count: Int): Int =
    if (tree.size == 0 || count == 0 || times(0) > tree.youngest) {
      0
    } else {
      val i = Arrays.binarySearch(times, 0, count, tree.youngest)
      if (i >= 0) i + 1 else -(i + 1)
    }

  private def strictlyAscending(times: Array[Long], count: Int): Boolean = {
    var i = 1
    while (i < count && times(i - 1) < times(i)) i += 1
    i >= count
  }

  /** Combines elements of equal times within the bulk. Returns the number of elements left. */
  private def combineEqual(times: Array[Long], count: Int): Int = {
    if (distinct.length < count) distinct = new Array[Long](times.length)
    var length = 0
    var i = 0
    while (i < count) {
      if (length > 0 && times(i) == distinct(length - 1)) {
        tree.combine(firstOpen + length - 1, firstOpen + length - 1, firstOpen + i)
      } else {
        distinct(length) = times(i)
        if (length < i) store.slots.copy(firstOpen + length, firstOpen + i)
        length += 1
      }
      i += 1
    }
    length
  }

  private def requireNonEmpty(what: String): Unit =
    if (tree.size == 0) throw new NoSuchElementException(s"$what on an empty window")

  private def requireRoom(count: Int): Unit =
    if (count > NodeStore.MaxSize - tree.size) {
      throw new IllegalStateException(
        s"a window holds at most ${NodeStore.MaxSize} elements, since an Int numbers their " +
          "slots; use several windows"
      )
    }

  private def requireBulk(times: Array[Long], count: Int): Unit = {
    if (count < 0 || count > times.length) {
      throw new IllegalArgumentException(
        s"bulkInsert() of $count elements with ${times.length} timestamps"
      )
    }
    if (count > openSlots) {
      throw new IllegalStateException(
        s"bulkInsert() of $count elements with $openSlots open slots; call openBulk($count)"
      )
    }
    var i = 1
    while (i < count) {
      if (times(i) < times(i - 1)) {
        throw new IllegalArgumentException(
          s"bulkInsert(): timestamps must ascend, but ${times(i)} at index $i follows " +
            s"${times(i - 1)}"
        )
      }
      i += 1
    }
  }
}

object Fiba {

  /** The default for the least number of children of a node. */
  final val MinArity = 4

  /** A window of values: `Fiba(Max[Double])`. It makes use of an aggregation that commutes. */
  def apply[In, Out](
      aggregation: Aggregation[In, _, Out],
      minArity: Int = MinArity
  ): TimedWindow[In, Out] = {
    val column = Column.of(aggregation)
    column.over(new Fiba(column, minArity, Commutative(aggregation)))
  }
}
