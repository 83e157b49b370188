package io.sash.papers.fiba

/**
 * Insertion after the youngest entry, at the right finger. Unless the leaf is full, one entry
 * changes the right finger alone and takes one combine. A bulk fills leaf after leaf and computes
 * the aggregate of each leaf once. Leaves then have arity μ + 1, as in claim 1 of section 5.
 */
private[fiba] final class Append(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val minArity = store.minArity
  private[this] val maxArity = store.maxArity

  /** Combines a value into the youngest entry. */
  def merge(slot: Int): Unit = {
    val leaf = tree.right(0)
    val youngest = store.slot(leaf, store.arity(leaf) - 2)
    tree.combine(tree.answer, youngest, slot)
    tree.extend(slot)
    store.slots.copy(youngest, tree.answer)
  }

  /** Whether the next entry needs no split. Then only its first and only combine can throw. */
  def hasRoom: Boolean = store.arity(tree.right(0)) < maxArity

  /** Appends one entry. */
  def append(time: Long, slot: Int): Unit = {
    val leaf = tree.right(0)
    if (tree.size == 0) tree.beginWith(slot) else tree.extend(slot)
    if (store.arity(leaf) < maxArity) {
      put(leaf, time, slot)
    } else {
      appendToFull(leaf, time, slot)
      tree.passDown()
    }
  }

  /**
   * Appends the entries times[from, until). Their values are in the slots from `firstSlot` on.
   */
  def appendAll(times: Array[Long], from: Int, until: Int, firstSlot: Int): Unit = {
    var i = from
    while (i < until) {
      val leaf = tree.right(0)
      if (store.arity(leaf) == maxArity) {
        appendToFull(leaf, times(i), firstSlot + i)
        i += 1
      } else if (store.arity(leaf) > minArity && until - i >= minArity) {
        val next = store.allocate(0)
        val separator = i
        val end = i + 1 + math.min(minArity, until - i - 1)
        i += 1
        while (i < end) {
          put(next, times(i), firstSlot + i)
          i += 1
        }
        close(times(separator), firstSlot + separator, next)
        tree.size += 1
      } else {
        put(leaf, times(i), firstSlot + i)
        i += 1
      }
    }
    if (from < until) {
      tree.noted(tree.right(0), 0)
      tree.passDown()
    }
  }

  private def put(leaf: Int, time: Long, slot: Int): Unit = {
    val arity = store.arity(leaf)
    store.setTime(leaf, arity - 1, time)
    store.slots.copy(store.slot(leaf, arity - 1), slot)
    store.setArity(leaf, arity + 1)
    tree.size += 1
  }

  /**
   * Splits the full right finger and appends an entry. As on the levels above, a split does not
   * change the right aggregate, unless the root takes part.
   */
  private def appendToFull(leaf: Int, time: Long, slot: Int): Unit = {
    val next = splitOff(leaf)
    put(next, time, slot)
    close(store.time(leaf, minArity), store.slot(leaf, minArity), next)
  }

  /**
   * Splits a full node before another entry is added at its end. The node keeps arity μ + 1.
   * Entry μ stays in its place until the parent takes it. The rest, of arity μ - 1, moves to a
   * new node.
   */
  private def splitOff(node: Int): Int = tree.splitOff(node, minArity + 1)

  /**
   * Ends the right finger. Puts an entry and the leaf `next` after it, and splits full nodes on
   * the way up.
   */
  private def close(time: Long, slot: Int, next: Int): Unit = {
    var entryTime = time
    var entry = slot
    var child = next
    var level = 0
    while (child != 0) {
      tree.setRight(level, child)
      level += 1
      val parent = if (level > tree.height) tree.growAbove() else tree.right(level)
      val last = store.arity(parent) - 1
      tree.refresh(parent, level - 1, last)
      if (last > 0) tree.extend(level, store.aggregate(parent, last), entry)
      if (last + 1 == maxArity) {
        val sibling = splitOff(parent)
        add(sibling, entryTime, entry, child)
        entryTime = store.time(parent, minArity)
        entry = store.slot(parent, minArity)
        child = sibling
      } else {
        add(parent, entryTime, entry, child)
        child = 0
        // below the root there is nothing above any more
        if (level == tree.height) tree.rightReplaced()
      }
    }
  }

  private def add(node: Int, time: Long, slot: Int, child: Int): Unit =
    tree.add(node, store.arity(node) - 1, time, slot, child)
}
