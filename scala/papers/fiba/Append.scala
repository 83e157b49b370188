package io.sash.papers.fiba

/**
 * Insertion after the youngest entry, at the right finger. Unless the leaf is full, one entry
 * changes the right finger alone and takes one combine. A full node of the right spine gives its
 * last entry to its parent, and its last child to a new node. So in-order data leave nodes of
 * arity 2μ - 1 behind, where a split in halves would leave μ + 1. A bulk computes the aggregate
 * of each leaf once.
 */
private[fiba] final class Append(tree: FingerTree) {
  private[this] val store = tree.store
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
  def appendAll(times: Array[Long], from: Int, until: Int, firstSlot: Int): Unit =
    if (from < until) {
      var i = from
      while (i < until) {
        val leaf = tree.right(0)
        if (store.arity(leaf) == maxArity) appendToFull(leaf, times(i), firstSlot + i)
        else put(leaf, times(i), firstSlot + i)
        i += 1
      }
      tree.noted(tree.right(0), 0)
      tree.passDown()
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
    close(store.time(leaf, maxArity - 2), store.slot(leaf, maxArity - 2), next)
  }

  /**
   * Splits a full node before another entry is added at its end. Its last entry stays in its
   * place until the parent takes it. Its last child moves to a new node.
   */
  private def splitOff(node: Int): Int = tree.splitOff(node, maxArity - 1)

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
        entryTime = store.time(parent, maxArity - 2)
        entry = store.slot(parent, maxArity - 2)
        child = sibling
      } else {
        add(parent, entryTime, entry, child)
        child = 0
        // the right aggregates below the root lose the entries that have moved into it
        if (level == tree.height) tree.rightReplaced()
      }
    }
  }

  private def add(node: Int, time: Long, slot: Int, child: Int): Unit =
    tree.add(node, store.arity(node) - 1, time, slot, child)
}
