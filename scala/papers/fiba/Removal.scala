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
    val level = tree.find(time)
    val found = tree.found
    if (found) removeFrom(level)
    found
  }

  private def removeFrom(level: Int): Unit = {
    val node = tree.path(level)
    val evicted = tree.settle()
    val i = if (node == tree.left(0)) tree.place - evicted else tree.place
    tree.size -= 1
    if (level == 0) {
      tree.remove(node, i, 1)
    } else {
      val leaf = descend(level, node, i + 1)
      store.copyEntry(leaf, 0, node, i)
      tree.remove(leaf, 0, 1)
      tree.noted(node, level)
    }
    passUp()
    tree.passDown()
  }

  /** Goes to the leaf with the first entry of a child. */
  private def descend(level: Int, from: Int, i: Int): Int = {
    var node = tree.descend(level, from, i)
    var below = level - 1
    while (below > 0) {
      node = tree.descend(below, node, 0)
      below -= 1
    }
    node
  }

  /** Repairs arities, then up aggregates, from the leaf upwards. */
  private def passUp(): Unit = {
    var level = 0
    while (level < tree.height && lacks(tree.path(level), level)) {
      tree.rise(level + 1)
      rebalance(level, tree.path(level), tree.path(level + 1), tree.at(level + 1))
      level += 1
    }
    val node = tree.path(level)
    if (level == tree.height && level > 0 && store.arity(node) == 1) {
      tree.shrinkTo(store.child(node, 0), level - 1)
    } else {
      while (!tree.noted(tree.path(level), level)) {
        tree.refresh(tree.path(level + 1), level, tree.at(level + 1))
        level += 1
      }
    }
  }

  private def lacks(node: Int, level: Int): Boolean =
    store.arity(node) < tree.least(node, level)

  /** Moves a child of a sibling into the underfull child i, or merges the two. */
  private def rebalance(level: Int, node: Int, parent: Int, i: Int): Unit =
    if (i < store.arity(parent) - 1) {
      val right = store.child(parent, i + 1)
      if (tree.surplus(right) > 0) {
        tree.move(node, right, parent, i, 1)
        refreshBoth(level, parent, i)
      } else {
        merge(level, node, right, parent, i)
      }
    } else {
      val left = store.child(parent, i - 1)
      if (tree.surplus(left) > 0) {
        tree.moveFromLeft(left, node, parent, i - 1)
        refreshBoth(level, parent, i - 1)
      } else {
        merge(level, left, node, parent, i - 1)
      }
    }

  private def refreshBoth(level: Int, parent: Int, i: Int): Unit = {
    tree.refresh(parent, level, i)
    tree.refresh(parent, level, i + 1)
  }

  private def merge(level: Int, left: Int, right: Int, parent: Int, separator: Int): Unit = {
    tree.merge(left, 0, right, parent, separator)
    tree.remove(parent, separator, 1)
    if (left == tree.left(level)) tree.left(level) = right
    tree.refresh(parent, level, separator)
    store.free(left)
  }
}
