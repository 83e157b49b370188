package io.sash.papers.fiba

/**
 * The aggregate of the entries between two times. They lie between two paths. Each path goes from
 * a node near the nearer end of the window down to the place of its time.
 *
 * The answer grows at both ends: younger operands are appended, older operands prepended.
 * Children on a spine have no up aggregate. But no range contains such a child wholly, since a
 * range's ends lie within the window's times.
 *
 * Cost: O(log d + log e), where d and e are the distances of the range's ends to the nearer ends
 * of the window. If both are nearer to the same end, only the farther one counts.
 *
 * Paper: ''Optimal and General Out-of-Order Sliding-Window Aggregation'', PVLDB 2019.
 */
private[fiba] final class RangeQuery(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val answer = tree.ranged
  private[this] var nothingYet = true

  /**
   * The slot of the aggregate of [from, to]. Both lie within the window's times, and from <= to.
   */
  def query(from: Long, to: Long): Int = {
    nothingYet = true
    val left = tree.start(from)
    val leftNode = tree.path(left)
    val right = tree.start(to)
    val rightNode = tree.path(right)
    if (leftNode != tree.right(left) && rightNode != tree.left(right)) {
      acrossRoot(left, from, right, to)
    } else {
      between(if (left > right) leftNode else rightNode, from, to)
    }
    if (nothingYet) identity() else answer
  }

  /** The slot for an empty range, set to the identity. */
  def identity(): Int = {
    store.slots.identity(answer)
    answer
  }

  private def append(operand: Int): Unit = add(answer, operand, operand)

  private def prepend(operand: Int): Unit = add(operand, answer, operand)

  private def add(older: Int, younger: Int, operand: Int): Unit =
    if (nothingYet) {
      store.slots.copy(answer, operand)
      nothingYet = false
    } else {
      tree.combine(answer, older, younger)
    }

  /**
   * A range from the left to the right spine. The spines' aggregates include all higher nodes.
   */
  private def acrossRoot(left: Int, from: Long, right: Int, to: Long): Unit = {
    append(tree.rightAggregate(tree.height))
    if (left + 1 < tree.height) prepend(tree.leftAggregate(left + 1))
    youngerPart(tree.left(left), from)
    if (right + 1 < tree.height) append(tree.rightAggregate(right + 1))
    olderPart(tree.right(right), to)
  }

  /** A range that lies within one subtree. */
  private def between(top: Int, from: Long, to: Long): Unit = {
    var node = top
    var i = store.older(node, from)
    var j = store.notYounger(node, to)
    while (i == j && !store.isLeaf(node)) {
      node = store.child(node, i)
      i = store.older(node, from)
      j = store.notYounger(node, to)
    }
    val leaf = store.isLeaf(node)
    var k = i
    while (k < j) {
      append(store.slot(node, k))
      k += 1
      if (!leaf && k < j) append(store.aggregate(node, k))
    }
    if (!leaf) {
      if (!store.isAt(node, i, from)) youngerPart(store.child(node, i), from)
      if (!store.isAt(node, j - 1, to)) olderPart(store.child(node, j), to)
    }
  }

  /** Prepends the entries of a subtree that are at or after `from`. */
  private def youngerPart(top: Int, from: Long): Unit = {
    var node = top
    while (node != 0) {
      val i = store.older(node, from)
      val leaf = store.isLeaf(node)
      var k = store.arity(node) - 2
      while (k >= i) {
        if (!leaf) prepend(store.aggregate(node, k + 1))
        prepend(store.slot(node, k))
        k -= 1
      }
      node = if (leaf || store.isAt(node, i, from)) 0 else store.child(node, i)
    }
  }

  /** Appends the entries of a subtree that are at or before `to`. */
  private def olderPart(top: Int, to: Long): Unit = {
    var node = top
    while (node != 0) {
      val j = store.notYounger(node, to)
      val leaf = store.isLeaf(node)
      var k = 0
      while (k < j) {
        if (!leaf) append(store.aggregate(node, k))
        append(store.slot(node, k))
        k += 1
      }
      node = if (leaf || store.isAt(node, j - 1, to)) 0 else store.child(node, j)
    }
  }
}
