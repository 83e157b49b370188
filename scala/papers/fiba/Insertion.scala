package io.sash.papers.fiba

/**
 * Insertion of one entry before the youngest, as in a B-tree. The entry goes into a leaf. A full
 * node splits in two, and an entry between the two parts goes into the node above. If the tree
 * already has an entry of that time, the new value is combined into it.
 *
 * The value of an entry on its way up lies in the aggregate slot of the new node to its right.
 * That aggregate is computed once the parent has taken the entry.
 *
 * Cost: amortised O(log d), where d is the distance to the nearer end of the window.
 *
 * Paper: ''Optimal and General Out-of-Order Sliding-Window Aggregation'', PVLDB 2019.
 */
private[fiba] final class Insertion(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val minArity = store.minArity
  private[this] var promotedTime = 0L

  def insert(time: Long, slot: Int): Unit = {
    val node = tree.find(time)
    if (node == store.leftFinger && store.head > 0) {
      tree.settle()
      tree.find(time)
    }
    val i = tree.place
    if (tree.found) {
      val entry = store.slot(node, i)
      tree.combine(entry, entry, slot)
      passUp(node, slot, added = 0, last = store.isLeaf(node) && i == store.arity(node) - 2)
    } else {
      store.size += 1
      insertInto(node, i, time, slot)
    }
    tree.passDown()
  }

  private def insertInto(leaf: Int, place: Int, time: Long, slot: Int): Unit = {
    val root = store.root
    var node = leaf
    var i = place
    var entryTime = time
    var entry = slot
    var child = 0
    var last = i == store.arity(node) - 1
    while (store.arity(node) == store.maxArity) {
      val sibling = split(node, i, entryTime, entry, child)
      if (child != 0) tree.changed(child)
      tree.changed(node)
      node = if (node == store.root) tree.growAbove(node) else store.parent(node)
      entryTime = promotedTime
      entry = store.aggregate(sibling)
      child = sibling
      i = tree.older(node, entryTime)
      last &&= i == store.arity(node) - 1
    }
    add(node, i, entryTime, entry, child)
    if (child != 0) tree.changed(child)
    if (store.root == root) passUp(node, slot, added = 1, last) else tree.rootReplaced()
  }

  /**
   * Updates up aggregates from a node up, after a value and `added` entries have come below it.
   * If the value is the `last` in a subtree, it is combined into that node's aggregate.
   */
  private def passUp(from: Int, slot: Int, added: Int, last: Boolean): Unit = {
    var node = from
    var isLast = last
    while (store.spine(node) == 0) {
      tree.grown(node, added, if (isLast) slot else Aggregates.NoSlot)
      val parent = store.parent(node)
      isLast &&= store.child(parent, store.arity(parent) - 1) == node
      node = parent
    }
    tree.changed(node)
  }

  /** Adds an entry, and the child to its right (0 in a leaf), as entry i of a node. */
  private def add(node: Int, i: Int, time: Long, slot: Int, child: Int): Unit = {
    val entries = store.arity(node) - 1
    store.copyEntries(node, i, node, i + 1, entries - i)
    store.setTime(node, i, time)
    store.slots.copy(store.slot(node, i), slot)
    if (child != 0) {
      store.copyChildren(node, i + 1, node, i + 2, entries - i)
      store.setChild(node, i + 1, child)
    }
    store.setArity(node, entries + 2)
  }

  /**
   * Splits a full node that takes one more entry, as entry i. The node keeps arity μ + 1, and one
   * entry is promoted. The rest, of arity μ, goes to a new node, which is returned.
   */
  private def split(node: Int, i: Int, time: Long, slot: Int, child: Int): Int = {
    val sibling = tree.splitOff(node, if (i <= minArity) minArity else minArity + 1)
    if (i < minArity) {
      promote(sibling, store.time(node, minArity - 1), store.slot(node, minArity - 1))
      add(node, i, time, slot, child)
    } else if (i == minArity) {
      store.setArity(node, minArity + 1)
      if (child != 0) {
        store.setChild(node, minArity, store.child(sibling, 0)) // it is left of the new entry
        store.setChild(sibling, 0, child)
      }
      promote(sibling, time, slot)
    } else {
      promote(sibling, store.time(node, minArity), store.slot(node, minArity))
      add(sibling, i - minArity - 1, time, slot, child)
    }
    store.setSpine(sibling, store.spine(node) & NodeStore.Right)
    store.setSpine(node, store.spine(node) & NodeStore.Left)
    sibling
  }

  private def promote(sibling: Int, time: Long, slot: Int): Unit = {
    promotedTime = time
    store.slots.copy(store.aggregate(sibling), slot)
  }
}
