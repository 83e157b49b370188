package io.sash.core.fat

import java.util.Arrays

import io.sash.core.slots.Partials

/**
 * The aggregate of members that leave in any order. Members are the leaves of a tree of four, in
 * the order in which they came, and a node has the aggregate of its children.
 * {{{
 *   column.lift(tree.open(), value)
 *   val number = tree.insert()
 *   column.lower(tree.query())
 *   tree.remove(number)
 * }}}
 * Invariants, for leaves 0, 1, 2, … and the node i above the nodes 4i … 4i + 3 of a level:
 *  - (I1) the leaves from `front` to before `back` are in use, and the first and the last of them
 *    have members
 *  - (I2) a leaf in use holds its member, or the identity if the member has left
 *  - (I3) a leaf in use has the member's number in `numbers`, or ~number if the member has left;
 *    the numbers ascend
 *  - (I4) a node above a leaf in use is in use, too, and holds the aggregate of its children in
 *    use, in order
 *
 * Cost in combines, for n members: none for a query. On each of the log4(n) + 2 levels, a member
 * that comes takes at most 1, and a member that leaves at most 3. When all leaves have been used,
 * the members are packed into the first leaves, and the number of leaves doubles if over three
 * quarters hold members. That takes amortised 3 combines a member. Space: 4/3 slots a leaf, and
 * at most 8/3 leaves a member while as many members come as leave. The tree never shrinks.
 *
 * If the column throws, the tree has to be cleared.
 *
 * Paper: the FlatFAT of ''General Incremental Sliding-Window Aggregation'', section 4. As in
 * section 5, leaves are used one after the other, and packed.
 */
final class MemberTree(initial: Partials) {
  import MemberTree._

  private[this] var partials: Partials = initial.claimed(Partials.Slots)

  /** The slot of the first node of each level, the leaves first, the root last. */
  private[this] var levels = Array.empty[Int]
  private[this] var numbers = Array.empty[Long]
  private[this] var front = 0
  private[this] var back = 0
  private[this] var members = 0
  private[this] var coming = 0L

  reserve(FirstCapacity)

  def size: Int = members

  /** The number of slots that the tree has reserved. */
  def slots: Int = levels.last + 1

  /** The column of the slots that calls return. Inserting may replace it. */
  def column: Partials = partials

  /** The slot for the next member. */
  def open(): Int = Entry

  /** Takes the member in the open slot. Returns the number by which it leaves. */
  def insert(): Long = {
    if (back == numbers.length) makeRoom()
    partials.copy(levels(0) + back, Entry)
    numbers(back) = coming
    back += 1
    members += 1
    coming += 1
    append(back - 1)
    coming - 1
  }

  def remove(number: Long): Unit = {
    val leaf = leafOf(number)
    members -= 1
    if (members == 0) {
      front = 0
      back = 0
    } else {
      numbers(leaf) = ~number
      partials.identity(levels(0) + leaf)
      while (numbers(front) < 0) front += 1
      while (numbers(back - 1) < 0) back -= 1
      update(leaf) // it may fold nodes that are out of use now, too: nobody reads them
    }
  }

  /** The slot of the aggregate, in the order in which members came; valid until a change. */
  def query(): Int = {
    if (members == 0) partials.identity(levels.last)
    levels.last
  }

  /** Empties the tree. The capacity stays. */
  def clear(): Unit = {
    front = 0
    back = 0
    members = 0
  }

  /** Combines the last leaf into the nodes above it. */
  private def append(leaf: Int): Unit = {
    val member = levels(0) + leaf
    var level = 1
    while (level < levels.length) {
      val shift = level * LogFanOut
      val node = levels(level) + (leaf >> shift)
      if (leaf >> shift << shift == leaf) partials.copy(node, member)
      else partials.combine(node, node, member)
      level += 1
    }
  }

  private def update(leaf: Int): Unit = {
    var level = 1
    while (level < levels.length) {
      fold(level, leaf >> (level * LogFanOut))
      level += 1
    }
  }

  private def fold(level: Int, node: Int): Unit = {
    val below = (level - 1) * LogFanOut
    val first = math.max(node << LogFanOut, front >> below)
    val last = math.min((node + 1 << LogFanOut) - 1, back - 1 >> below)
    val dst = levels(level) + node
    partials.copy(dst, levels(level - 1) + first)
    partials.foldRange(dst, levels(level - 1) + first + 1, levels(level - 1) + last)
  }

  private def leafOf(number: Long): Int = {
    var low = front
    var high = back - 1
    while (low < high) {
      val middle = (low + high) >>> 1
      val found = numbers(middle)
      if ((if (found < 0) ~found else found) < number) low = middle + 1 else high = middle
    }
    if (low > high || numbers(low) != number) {
      throw new NoSuchElementException(s"remove($number), which is no member's number")
    }
    low
  }

  private def makeRoom(): Unit = {
    pack()
    if (members > numbers.length / 4 * 3) reserve(2 * numbers.length)
    var level = 1
    while (level < levels.length) {
      var node = back - 1 >> (level * LogFanOut)
      while (node >= 0) {
        fold(level, node)
        node -= 1
      }
      level += 1
    }
  }

  /** Moves the members to the first leaves. */
  private def pack(): Unit = {
    var packed = 0
    var leaf = front
    while (leaf < back) {
      if (numbers(leaf) >= 0) {
        partials.copy(levels(0) + packed, levels(0) + leaf)
        numbers(packed) = numbers(leaf)
        packed += 1
      }
      leaf += 1
    }
    front = 0
    back = packed
  }

  /** Makes room for so many leaves. The present ones stay where they are. */
  private def reserve(capacity: Int): Unit = {
    if (capacity > MaxCapacity) {
      throw new IllegalStateException(s"a tree holds at most $MaxCapacity partial aggregates")
    }
    val sizes = Iterator.iterate(capacity)(n => n + FanOut - 1 >> LogFanOut).takeWhile(_ > 1)
    val firsts = sizes.scanLeft(Entry + 1)(_ + _).toArray
    partials = partials.grow(firsts.last + 1)
    levels = firsts
    numbers = Arrays.copyOf(numbers, capacity)
  }
}

private object MemberTree {
  final val LogFanOut = 2
  final val FanOut = 1 << LogFanOut
  final val FirstCapacity = 16
  final val MaxCapacity = 1 << 29

  /** The open slot. The leaves are behind it. */
  final val Entry = 0
}
