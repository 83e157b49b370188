package io.sash.papers.fiba

/**
 * Insertion of one entry before the youngest, as in a B-tree. The entry goes into a leaf. A full
 * node splits in two, and an entry between the two parts goes into the node above. If the tree
 * already has an entry of that time, the new value is combined into it.
 *
 * The value of an entry on its way up lies in the spare slot of the new node to its right.
 *
 * Cost: amortised O(log d), where d is the distance to the nearer end of the window.
 *
 * Paper: ''Optimal and General Out-of-Order Sliding-Window Aggregation'', PVLDB 2019.
 */
private[fiba] final class Insertion(tree: FingerTree, commutes: Boolean) {
  private[this] val store = tree.store
  private[this] val minArity = store.minArity
  private[this] var promotedTime = 0L

  def insert(time: Long, slot: Int): Unit = {
    val level = tree.find(time)
    val node = tree.path(level)
    if (node == tree.left(0) && tree.settle() > 0) tree.seek(node, time)
    if (tree.found) {
      val entry = store.slot(node, tree.place)
      tree.combine(entry, entry, slot)
      passUp(level, slot, added = 0, last = level == 0 && tree.place == store.arity(node) - 2)
    } else {
      tree.size += 1
      insertInto(node, time, slot)
    }
    tree.passDown()
  }

  private def insertInto(leaf: Int, time: Long, slot: Int): Unit = {
    var level = 0
    var node = leaf
    var i = tree.place
    var entryTime = time
    var entry = slot
    var child = 0
    var last = i == store.arity(node) - 1
    while (store.arity(node) == store.maxArity) {
      child = split(level, node, i, entryTime, entry, child)
      entryTime = promotedTime
      entry = store.spare(child)
      level += 1
      tree.riseOrGrow(level)
      node = tree.path(level)
      i = tree.at(level)
      last &&= i == store.arity(node) - 1
    }
    tree.add(node, i, entryTime, entry, child)
    if (child != 0) {
      tree.refresh(node, level - 1, i)
      tree.refresh(node, level - 1, i + 1)
    }
    passUp(level, slot, added = 1, last)
  }

  /**
   * Updates up aggregates from a level up, after a value and `added` entries have come below it.
   * If the value is the `last` in a subtree, or ⊗ commutes, it is combined into that node's
   * aggregate. If ⊗ commutes, this goes on in the root or the right spine, for a value below it.
   */
  private def passUp(from: Int, slot: Int, added: Int, last: Boolean): Unit = {
    var level = from
    var node = tree.path(from)
    var isLast = last
    while (level < tree.top) {
      val parent = tree.path(level + 1)
      val i = tree.at(level + 1)
      val aggregate = store.aggregate(parent, i)
      if (added != 0) store.addCount(parent, i, added)
      if (isLast || commutes) tree.combine(aggregate, aggregate, slot)
      else tree.computeUp(aggregate, node, level)
      isLast &&= i == store.arity(parent) - 1
      level += 1
      node = parent
    }
    val isAdded = commutes && level > from && tree.addedRight(node, level, slot)
    if (!isAdded) tree.noted(node, level)
  }

  /**
   * Splits a full node that takes one more entry, as entry i. The node keeps arity μ + 1, and one
   * entry is promoted. The rest, of arity μ, goes to a new node, which is returned.
   */
  private def split(level: Int, node: Int, i: Int, time: Long, slot: Int, child: Int): Int = {
    val sibling = tree.splitOff(node, if (i <= minArity) minArity else minArity + 1)
    if (i < minArity) {
      promote(sibling, store.time(node, minArity - 1), store.slot(node, minArity - 1))
      tree.add(node, i, time, slot, child)
    } else if (i == minArity) {
      promote(sibling, time, slot)
      store.setArity(node, minArity + 1)
      if (child != 0) {
        store.copyChildren(sibling, 0, node, minArity, 1) // it is left of the new entry
        store.setChild(sibling, 0, child)
      }
    } else {
      promote(sibling, store.time(node, minArity), store.slot(node, minArity))
      tree.add(sibling, i - minArity - 1, time, slot, child)
    }
    if (node == tree.right(level)) tree.setRight(level, sibling)
    if (child != 0) {
      refresh(level - 1, node, sibling, i)
      refresh(level - 1, node, sibling, i + 1)
    }
    sibling
  }

  private def promote(sibling: Int, time: Long, slot: Int): Unit = {
    promotedTime = time
    store.slots.copy(store.spare(sibling), slot)
  }

  /** Refreshes child i of a node that has been split. */
  private def refresh(level: Int, node: Int, sibling: Int, i: Int): Unit =
    if (i <= minArity) tree.refresh(node, level, i)
    else tree.refresh(sibling, level, i - minArity - 1)
}
