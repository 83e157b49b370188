package io.sash.papers.fiba

/**
 * Removal of one entry anywhere, as in a B-tree. An entry of an inner node is replaced by the
 * next younger entry, which is in a leaf. An underfull node takes a child from a sibling or
 * merges with the sibling.
 *
 * Cost: amortised O(log d), where d is the distance to the nearer end of the window.
 *
 * Paper: ''Optimal and General Out-of-Order Sliding-Window Aggregation'', PVLDB 2019.
 */
private[fiba] final class Removal(tree: FingerTree) {
  private[this] val store = tree.store

  /** Removes the entry at `time`, which is not the oldest. Returns whether there was one. */
  def remove(time: Long): Boolean = {
    val node = tree.find(time)
    val found = tree.found
    if (found) removeFrom(node, time)
    found
  }

  private def removeFrom(node: Int, time: Long): Unit = {
    val shifted = store.head > 0
    tree.settle()
    val i = tree.older(node, time)
    store.size -= 1
    if (store.isLeaf(node)) {
      tree.remove(node, i, 1)
      passUp(node, time)
    } else {
      val leaf = youngerLeaf(node, i)
      store.copyEntry(leaf, 0, node, i)
      tree.dropOldest(leaf, 1)
      if (store.spine(node) != 0) tree.changed(node)
      passUp(leaf, store.time(node, i))
    }
    tree.passDown()
    if (shifted) tree.stackAll()
  }

  /** The leaf with the entry that follows entry i. */
  private def youngerLeaf(node: Int, i: Int): Int = {
    var leaf = store.child(node, i + 1)
    while (!store.isLeaf(leaf)) leaf = store.child(leaf, 0)
    leaf
  }

  /** Repairs arities, then up aggregates, from the leaf that held `key` upwards. */
  private def passUp(leaf: Int, key: Long): Unit = {
    var node = leaf
    while (tree.lacks(node)) {
      val parent = store.parent(node)
      rebalance(node, parent, tree.notYounger(parent, key))
      node = parent
    }
    if (store.arity(node) == 1 && !store.isLeaf(node)) tree.shrinkTo(store.child(node, 0))
    else while (tree.changed(node)) node = store.parent(node)
  }

  /** Moves a child of a sibling into the underfull child i, or merges the two. */
  private def rebalance(node: Int, parent: Int, i: Int): Unit =
    if (i < store.arity(parent) - 1) {
      val right = store.child(parent, i + 1)
      if (tree.surplus(right) > 0) {
        tree.move(node, right, parent, i, 1)
        tree.changed(node)
        tree.changed(right)
      } else {
        merge(node, right, parent, i)
      }
    } else {
      val left = store.child(parent, i - 1)
      if (tree.surplus(left) > 0) {
        tree.moveFromLeft(left, node, parent, i - 1)
        tree.changed(left)
        tree.changed(node)
      } else {
        merge(left, node, parent, i - 1)
      }
    }

  private def merge(left: Int, right: Int, parent: Int, separator: Int): Unit = {
    tree.merge(left, 0, right, parent, separator)
    tree.remove(parent, separator, 1)
    store.setSpine(right, store.spine(right) | (store.spine(left) & NodeStore.Left))
    tree.changed(right)
    store.free(left)
  }
}
