package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.slots.Bytes

/**
 * A window over a tree of partials (`RadixTree`). It is Two-Stacks Lite with a front stack made
 * of nodes, which are read from the store when the window reaches them.
 *
 * The window [front, back) has two parts. `backSlot` holds the aggregate of [boundary, back);
 * each new element is combined into it. For [front, boundary) there is one stack for each level.
 * A stack holds entries of one node, each turned into the aggregate from its beginning to the
 * boundary. The entries of level 0 come first, then the entries of level 1, and so on. When level
 * 0 is used up, the first entry of the level above is replaced by the entries of its node. When
 * all levels are used up, the window flips: [boundary, back) becomes the front, in the largest
 * possible entries.
 *
 * Invariants:
 *  - (W1) front <= boundary <= back <= the tree's end. The entries of level l lie in one node.
 *    They begin at the front, or where the entries of the level below end. The entries of the
 *    last level end at the boundary
 *  - (W2) entry e in the stack of level l holds the aggregate of [its beginning, boundary). In a
 *    level above 0 that was not used since `read`, only the first entry does
 *  - (W3) `backSlot` holds the aggregate of [boundary, back), if that is not empty
 *
 * Cost in combines, at height h: insert 1, query 1, amend at most F * h. Evict takes amortised at
 * most 1 + 1 / (F - 1), and at most F * h for each flip. Bulk eviction and restart take at most 2
 * F * h, for any number of elements, and eviction by time one flip more. In nodes loaded: evict
 * amortised 2 / (F - 1), bulk eviction and restart at most 2 h, eviction by time at most 6 h.
 *
 * Papers: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 4
 * (Two-Stacks Lite). Its stack over nodes of a tree is in section 4.2 of ''Constant-Time Sliding
 * Window Framework with Reduced Memory Footprint and Efficient Bulk Evictions''.
 *
 * @param evicting whether some elements leave before others; if not, all are behind the boundary
 */
final class RadixWindow private[sash] (tree: RadixTree, evicting: Boolean) extends TreeWindow {
  private[this] val backSlot = tree.slot()
  private[this] val answerSlot = tree.slot()
  private[this] val stretchSlot = tree.slot()
  private[this] val sumSlot = tree.slot()

  private[this] var fronts = 0L
  private[this] var boundary = 0L
  private[this] var backs = 0L

  private[this] var stacks = Array.empty[LevelStack]

  override def front: Long = fronts

  override def back: Long = backs

  override private[sash] def needed: Long = if (evicting) fronts else backs

  override def insert(slot: Int): Unit = {
    if (backs == boundary) tree.column.copy(backSlot, slot)
    else tree.column.combine(backSlot, backSlot, slot)
    backs += 1
  }

  override def insertTo(position: Long): Unit = while (backs < position)
    insert(tree.element(backs))

  override def timeOf(position: Long): Long = tree.timeOf(position)

  override def query(): Int =
    if (fronts == backs) {
      tree.column.identity(answerSlot)
      answerSlot
    } else if (fronts == boundary) {
      backSlot
    } else if (boundary == backs) {
      stacks(0).first
    } else {
      tree.column.combine(answerSlot, stacks(0).first, backSlot)
      answerSlot
    }

  private[this] var isWithout = true // no stretch has been appended

  override def begin(): Unit = isWithout = true

  override def append(from: Long, until: Long): Unit = if (from < until) {
    requireEvicting()
    val part = if (from == fronts && until == backs) query() else stretchOf(from, until)
    if (isWithout) tree.column.copy(sumSlot, part)
    else tree.column.combine(sumSlot, sumSlot, part)
    isWithout = false
  }

  private def stretchOf(from: Long, until: Long): Int = {
    tree.aggregate(stretchSlot, from, until)
    stretchSlot
  }

  override def answer(): Int = {
    if (isWithout) tree.column.identity(sumSlot)
    sumSlot
  }

  override def firstAt(time: Long, until: Long): Long = {
    requireEvicting()
    if (fronts < boundary) {
      val end = math.min(until, endOf(0))
      var at = fronts
      while (at < end && stacks(0).timeOf(at) < time) at += 1
      if (at < end || at == until) at else firstBehind(at, time, until)
    } else {
      val at = tree.firstAt(time, fronts, until)
      if (at == fronts && fronts < backs) flip() // so that the next call has the time in a stack
      at
    }
  }

  /** The same from the end of level 0 on, before which all elements are before `time`. */
  private def firstBehind(from: Long, time: Long, until: Long): Long = {
    // the highest level whose first entry is before `time`
    var level = 0
    var i = 1
    while (i < stacks.length) {
      if (!stacks(i).isEmpty && stacks(i).firstTime < time) level = i
      i += 1
    }
    if (level == 0) firstFrom(from, time, until)
    else {
      use(level)
      val entry = stacks(level).lastBefore(time)
      val first = tree.position(level, entry) + 1
      val end = math.min(until, tree.position(level, entry + 1))
      if (first >= end) end else firstFrom(tree.firstAt(time, first, end), time, until)
    }
  }

  /** The same from the boundary on, if `position` is there; else `position`. */
  private def firstFrom(position: Long, time: Long, until: Long): Long =
    if (position == boundary) tree.firstAt(time, boundary, until) else position

  override def evictTo(position: Long): Unit = {
    requireEvicting()
    if (position > fronts) {
      if (position < boundary) dropTo(position) else restartAt(position)
    }
  }

  override def restart(from: Long, until: Long): Unit = {
    stacks.foreach(_.clear())
    fronts = from
    boundary = from
    backs = until
    if (evicting && from < until) tree.aggregate(backSlot, from, until)
  }

  /**
   * Combines a partial into an element, like the tree's `amend`, if the window holds that
   * element.
   */
  private[sash] def amend(position: Long, slot: Int): Unit =
    if (position >= boundary) {
      if (position < backs) tree.column.combine(backSlot, backSlot, slot)
    } else if (position >= fronts) {
      var level = 0
      while (level < stacks.length) {
        if (!stacks(level).isEmpty)
          stacks(level).amend(tree.column, entryAt(level, position), position, slot)
        level += 1
      }
    }

  override def evictAll(): Unit = {
    stacks.foreach(_.clear())
    fronts = backs
    boundary = backs
  }

  override private[sash] def clear(): Unit = {
    fronts = tree.end
    boundary = tree.end
    backs = tree.end
    stacks.foreach(_.clear())
  }

  override private[sash] def write(out: Bytes): Unit = {
    out.putNumber(fronts)
    out.putNumber(boundary - fronts)
    out.putNumber(backs - boundary)
    if (boundary < backs) tree.writeSlot(out, backSlot)
    val height = stacks.lastIndexWhere(!_.isEmpty) + 1
    out.putNumber(height)
    var level = 0
    while (level < height) {
      stacks(level).write(out, tree, isWhole = level == 0)
      level += 1
    }
  }

  override private[sash] def read(in: ByteBuffer): Unit = {
    fronts = Bytes.number(in)
    boundary = fronts + Bytes.number(in)
    backs = boundary + Bytes.number(in)
    if (boundary < backs) tree.readSlot(in, backSlot)
    stacks.foreach(_.clear())
    val height = Bytes.number(in).toInt
    var level = 0
    while (level < height) {
      stack(level).read(in, tree, isWhole = level == 0)
      level += 1
    }
  }

  private def requireEvicting(): Unit =
    if (!evicting) {
      throw new IllegalStateException("elements of this window leave all at once; see `evicting`")
    }

  /** Moves the front to a position before the boundary. */
  private def dropTo(position: Long): Unit = {
    var level = 0
    while (stacks(level).isEmpty || endOf(level) <= position) {
      stacks(level).clear()
      level += 1
    }
    use(level)
    stacks(level).dropTo(entryAt(level, position))
    fronts = position
    // expand entries down to level 0, so that the front is at the element
    while (level > 0 && tree.position(level, stacks(level).firstEntry) != position) {
      expand(level)
      level -= 1
      stacks(level).dropTo(entryAt(level, position))
    }
    while (level > 0) {
      expand(level)
      level -= 1
    }
  }

  /** Moves the front to the boundary, or beyond it. */
  private def restartAt(position: Long): Unit =
    if (position == backs) {
      evictAll()
    } else {
      stacks.foreach(_.clear())
      fronts = position
      if (position > boundary) flip()
    }

  /** Makes front stacks of the largest entries that hold the window from its front on. */
  private def flip(): Unit = {
    boundary = climb()
    if (boundary < backs) tree.aggregate(backSlot, boundary, backs)
    var level = stacks.length - 1
    while (level >= 0) {
      if (!stacks(level).isEmpty) load(level)
      level -= 1
    }
  }

  /**
   * Makes front stacks, which are all empty, of the largest entries that hold the window from its
   * front on. Returns the end of these entries.
   */
  private def climb(): Long = {
    var level = 0
    var position = fronts
    var climbing = true
    while (climbing) {
      val first = entryAt(level, position)
      val node = first >> tree.logFanOut
      val nodeEnd = (node + 1) << tree.logFanOut
      val end = math.min(nodeEnd, entryAt(level, backs))
      stack(level).set(node, first, end)
      position = tree.position(level, end)
      climbing = end == nodeEnd && level + 1 < tree.height &&
        entryAt(level + 1, position) < entryAt(level + 1, backs)
      if (climbing) level += 1
    }
    position
  }

  /** Replaces the first entry of a used level by its node's entries, in the level below. */
  private def expand(level: Int): Unit = {
    val entry = stacks(level).pop()
    val first = entry << tree.logFanOut
    stacks(level - 1).set(entry, first, first + (1L << tree.logFanOut))
    load(level - 1)
  }

  /** Makes all entries of a level hold their aggregates up to the boundary, as (W2) says. */
  private def use(level: Int): Unit = if (!stacks(level).isUsed) load(level)

  private def load(level: Int): Unit = {
    val stack = stacks(level)
    tree.load(level, stack.number, stack.entries)
    var above = level + 1
    while (above < stacks.length && stacks(above).isEmpty) above += 1
    stack.aggregate(tree.column, if (above < stacks.length) stacks(above) else null)
  }

  private def entryAt(level: Int, position: Long): Long = position >> (level * tree.logFanOut)

  private def endOf(level: Int): Long = tree.position(level, stacks(level).lastEntry + 1)

  private def stack(level: Int): LevelStack = {
    while (stacks.length <= level) stacks :+= new LevelStack(tree.entries(), tree.logFanOut)
    stacks(level)
  }
}
