package io.sash.papers.fiba

/**
 * Insertion after the youngest entry, at the right finger. Unless the leaf is full, one entry
 * changes the right finger alone and takes one combine. A bulk fills leaf after leaf and computes
 * the aggregate of each leaf once. Leaves then have arity μ + 1, as in claim 1 of section 5.
 */
private[fiba] final class Append(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val minArity = store.minArity
  private[this] val mostEntries = store.maxArity - 1

  /** Combines a value into the youngest entry. */
  def merge(slot: Int): Unit = {
    val leaf = store.rightFinger
    val youngest = store.slot(leaf, store.arity(leaf) - 2)
    tree.combine(tree.answer, youngest, slot)
    tree.extend(leaf, slot)
    store.slots.copy(youngest, tree.answer)
  }

  /** Whether the next entry needs no split. Then only its first and only combine can throw. */
  def hasRoom: Boolean = store.arity(store.rightFinger) <= mostEntries

  /** Appends one entry. */
  def append(time: Long, slot: Int): Unit = {
    val leaf = store.rightFinger
    val entries = store.arity(leaf) - 1
    if (entries == mostEntries) {
      // the split does not change the right spine's aggregate, unless the root takes part
      tree.extend(leaf, slot)
      val next = splitOff(leaf)
      store.slots.copy(store.aggregate(next), store.aggregate(leaf))
      appendToFull(leaf, next, time, slot)
    } else {
      if (entries > 0) tree.extend(leaf, slot)
      put(leaf, entries, time, slot)
      if (entries == 0) {
        tree.changed(leaf)
        tree.passDown()
      }
    }
  }

  /**
   * Appends the entries times[from, until). Their values are in the slots from `firstSlot` on.
   */
  def appendAll(times: Array[Long], from: Int, until: Int, firstSlot: Int): Unit = {
    var i = from
    while (i < until) {
      val leaf = store.rightFinger
      val entries = store.arity(leaf) - 1
      if (entries >= minArity && until - i >= minArity) {
        val taken = math.min(minArity, until - i - 1)
        val next = store.allocate(0)
        fill(next, times, i + 1, i + 1 + taken, firstSlot)
        close(leaf, times(i), firstSlot + i, next)
        store.size += 1
        i += 1 + taken
      } else if (entries < mostEntries) {
        put(leaf, entries, times(i), firstSlot + i)
        i += 1
      } else {
        appendToFull(leaf, splitOff(leaf), times(i), firstSlot + i)
        i += 1
      }
    }
    if (from < until) {
      tree.changed(store.rightFinger)
      tree.passDown()
    }
  }

  private def put(leaf: Int, entries: Int, time: Long, slot: Int): Unit = {
    store.setTime(leaf, entries, time)
    store.slots.copy(store.slot(leaf, entries), slot)
    store.setArity(leaf, entries + 2)
    store.size += 1
  }

  private def fill(leaf: Int, times: Array[Long], from: Int, until: Int, firstSlot: Int): Unit = {
    var i = from
    while (i < until) {
      store.setTime(leaf, i - from, times(i))
      store.slots.copy(store.slot(leaf, i - from), firstSlot + i)
      i += 1
    }
    store.setArity(leaf, until - from + 1)
    store.size += until - from
  }

  private def appendToFull(leaf: Int, next: Int, time: Long, slot: Int): Unit = {
    put(next, minArity - 2, time, slot)
    close(leaf, store.time(leaf, minArity), store.slot(leaf, minArity), next)
  }

  /**
   * Splits a full node before another entry is added at its end. The node keeps arity μ + 1.
   * Entry μ stays in its place until the parent takes it. The rest, of arity μ - 1, moves to a
   * new node.
   */
  private def splitOff(node: Int): Int = tree.splitOff(node, minArity + 1)

  /**
   * Ends the right finger `closed`. Puts an entry and the leaf `next` after it, and splits full
   * nodes on the way up. As at the leaf, a split does not change the right aggregate, unless the
   * root takes part.
   */
  private def close(closed: Int, time: Long, slot: Int, next: Int): Unit = {
    var left = closed
    var right = next
    var entryTime = time
    var entry = slot
    var parent = leave(left)
    while (parent != 0 && store.arity(parent) == store.maxArity) {
      extend(parent, left, entry)
      val sibling = splitOff(parent)
      store.slots.copy(store.aggregate(sibling), store.aggregate(parent))
      hang(sibling, entryTime, entry, right)
      left = parent
      right = sibling
      entryTime = store.time(left, minArity)
      entry = store.slot(left, minArity)
      parent = leave(left)
    }
    if (parent == 0) {
      hang(tree.growAbove(left), entryTime, entry, right)
      tree.rootReplaced()
      tree.passDown()
    } else {
      extend(parent, left, entry)
      hang(parent, entryTime, entry, right)
      if (parent == store.root) {
        tree.changed(right)
        tree.passDown()
      }
    }
    store.rightFinger = next
  }

  private def extend(node: Int, child: Int, entry: Int): Unit = {
    tree.extend(node, store.aggregate(child))
    tree.extend(node, entry)
  }

  /** Takes a node off the right spine and returns its parent. */
  private def leave(node: Int): Int = {
    store.setSpine(node, store.spine(node) & NodeStore.Left)
    if (store.spine(node) == 0) tree.changed(node)
    store.parent(node)
  }

  private def hang(parent: Int, time: Long, slot: Int, child: Int): Unit = {
    val arity = store.arity(parent)
    store.setTime(parent, arity - 1, time)
    store.slots.copy(store.slot(parent, arity - 1), slot)
    store.setChild(parent, arity, child)
    store.setSpine(child, NodeStore.Right)
    store.setArity(parent, arity + 1)
  }
}
