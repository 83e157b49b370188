package io.sash.papers.fiba

/**
 * The finger B-tree: search from the fingers, and the local changes of section 4. They keep its
 * height, order and arity invariants.
 */
private[fiba] final class FingerTree(nodes: NodeStore) extends Aggregates(nodes) {
  private[this] val minArity = store.minArity

  /** Whether the last `find` has found an entry of its time. */
  var found: Boolean = false

  /** How many entries of the node that `find` returned are older. */
  var place: Int = 0

  /** Makes the tree empty: one leaf without entries. */
  def plant(): Unit = {
    val leaf = store.allocate(0)
    store.setSpine(leaf, NodeStore.Both)
    store.root = leaf
    store.leftFinger = leaf
    store.rightFinger = leaf
    store.head = 0
    store.size = 0
    spare = 0
  }

  def oldest: Long = store.time(store.leftFinger, store.head)

  def youngest: Long = store.time(store.rightFinger, store.arity(store.rightFinger) - 2)

  /**
   * The lowest node of a spine whose subtree spans `time`. The search goes up from the finger on
   * the side of `time`, seen from the root's entries.
   */
  def top(time: Long): Int = {
    val root = store.root
    if (store.isLeaf(root)) root
    else if (time < store.time(root, 0)) topLeft(time)
    else if (time > store.time(root, store.arity(root) - 2)) topRight(time)
    else root
  }

  private def topLeft(time: Long): Int = {
    var node = store.leftFinger
    var parent = store.parent(node)
    while (time >= store.time(parent, 0)) {
      node = parent
      parent = store.parent(node)
    }
    node
  }

  private def topRight(time: Long): Int = {
    var node = store.rightFinger
    var parent = store.parent(node)
    while (time <= store.time(parent, store.arity(parent) - 2)) {
      node = parent
      parent = store.parent(node)
    }
    node
  }

  /**
   * The node with the entry of `time`, or else the leaf in which it belongs; `found` says which.
   * A node is searched from its end, since out-of-order entries mostly belong near the youngest.
   */
  def find(time: Long): Int = {
    var node = top(time)
    seek(node, time)
    while (!found && !store.isLeaf(node)) {
      node = store.child(node, place)
      seek(node, time)
    }
    node
  }

  private def seek(node: Int, time: Long): Unit = {
    var i = store.arity(node) - 1
    while (i > 0 && store.time(node, i - 1) > time) i -= 1
    found = i > 0 && store.time(node, i - 1) == time
    place = if (found) i - 1 else i
  }

  /** How many entries of the node are older than `time`. */
  def older(node: Int, time: Long): Int = {
    val entries = store.arity(node) - 1
    var i = 0
    while (i < entries && store.time(node, i) < time) i += 1
    i
  }

  /** How many entries of the node are at or before `time`. */
  def notYounger(node: Int, time: Long): Int = {
    val i = older(node, time)
    if (isAt(node, i, time)) i + 1 else i
  }

  /** Whether there is an entry i and its time is `time`. */
  def isAt(node: Int, i: Int, time: Long): Boolean =
    i >= 0 && i < store.arity(node) - 1 && store.time(node, i) == time

  /** The number of entries in the node and below it, including the evicted ones before `head`. */
  def entriesUnder(node: Int): Int =
    if (store.spine(node) == 0) {
      store.count(node)
    } else {
      var entries = store.arity(node) - 1
      if (!store.isLeaf(node)) {
        var i = store.arity(node) - 1
        while (i >= 0) {
          entries += entriesUnder(store.child(node, i))
          i -= 1
        }
      }
      entries
    }

  /** Visits the entries in the node and below it by time, without the evicted ones. */
  def foreach(node: Int, visit: (Long, Int) => Unit): Unit = {
    val leaf = store.isLeaf(node)
    var i = if (node == store.leftFinger) store.head else 0
    if (!leaf) foreach(store.child(node, 0), visit)
    while (i < store.arity(node) - 1) {
      visit(store.time(node, i), store.slot(node, i))
      if (!leaf) foreach(store.child(node, i + 1), visit)
      i += 1
    }
  }

  /** Whether the node is underfull. */
  def lacks(node: Int): Boolean = node != store.root && store.arity(node) < minArity

  /** How much arity a node can give away. */
  def surplus(node: Int): Int = store.arity(node) - minArity

  /**
   * Removes the entries before `head` from the left finger. Its stacked suffixes are then stale.
   */
  def settle(): Unit =
    if (store.head > 0) {
      dropOldest(store.leftFinger, store.head)
      store.head = 0
    }

  /** Removes the first k entries and children. The caller keeps or frees those children. */
  def dropOldest(node: Int, k: Int): Unit = remove(node, 0, k)

  /** Removes k entries and children from i on. The caller keeps or frees those children. */
  def remove(node: Int, i: Int, k: Int): Unit = {
    val arity = store.arity(node) - k
    store.copyEntries(node, i + k, node, i, arity - 1 - i)
    if (!store.isLeaf(node)) store.copyChildren(node, i + k, node, i, arity - i)
    store.setArity(node, arity)
  }

  /**
   * Figure 2: moves the first k children of the neighbor to the right into a node. The entry
   * between the two nodes, `separator` of their least common ancestor, takes part in the move.
   */
  def move(node: Int, neighbor: Int, ancestor: Int, separator: Int, k: Int): Unit = {
    val arity = store.arity(node)
    store.copyEntry(ancestor, separator, node, arity - 1)
    store.copyEntries(neighbor, 0, node, arity, k - 1)
    store.copyEntry(neighbor, k - 1, ancestor, separator)
    if (!store.isLeaf(node)) store.copyChildren(neighbor, 0, node, arity, k)
    store.setArity(node, arity + k)
    dropOldest(neighbor, k)
  }

  /**
   * Moves the entries and the children of a full node, from `first` on, to a new node, and
   * returns that node. The entry before `first` stays in its place until the parent takes it.
   */
  def splitOff(node: Int, first: Int): Int = {
    val next = store.allocate(store.level(node))
    val arity = store.maxArity - first
    store.copyEntries(node, first, next, 0, arity - 1)
    if (!store.isLeaf(node)) store.copyChildren(node, first, next, 0, arity)
    store.setArity(node, first)
    store.setArity(next, arity)
    next
  }

  /** The mirror of `move`, for one child of a sibling to the left. */
  def moveFromLeft(sibling: Int, node: Int, parent: Int, separator: Int): Unit = {
    val arity = store.arity(node)
    val last = store.arity(sibling) - 1
    store.copyEntries(node, 0, node, 1, arity - 1)
    store.copyEntry(parent, separator, node, 0)
    store.copyEntry(sibling, last - 1, parent, separator)
    if (!store.isLeaf(node)) {
      store.copyChildren(node, 0, node, 1, arity)
      store.copyChildren(sibling, last, node, 0, 1)
    }
    store.setArity(node, arity + 1)
    store.setArity(sibling, last)
  }

  /**
   * Figure 3: moves a node's entries and children, without the first `drop`, to the front of the
   * neighbor to the right. The entry between the two nodes comes along. The caller then frees the
   * node, of arity 0, and removes the separator.
   */
  def merge(node: Int, drop: Int, neighbor: Int, ancestor: Int, separator: Int): Unit = {
    val arity = store.arity(node) - drop
    val neighborArity = store.arity(neighbor)
    store.copyEntries(neighbor, 0, neighbor, arity, neighborArity - 1)
    store.copyEntries(node, drop, neighbor, 0, arity - 1)
    store.copyEntry(ancestor, separator, neighbor, arity - 1)
    if (!store.isLeaf(node)) {
      store.copyChildren(neighbor, 0, neighbor, arity, neighborArity)
      store.copyChildren(node, drop, neighbor, 0, arity)
    }
    store.setArity(neighbor, arity + neighborArity)
    store.setArity(node, 0)
  }

  /**
   * Figures 4 and 5: makes a node of the right spine the root, and frees all nodes not below it.
   */
  def shrinkTo(node: Int): Unit = {
    val parent = store.parent(node)
    store.setArity(parent, store.arity(parent) - 1)
    store.free(store.root)
    store.detach(node)
    store.root = node
    rootReplaced()
  }

  /** Puts a root of arity 1, without entries, above the present root. */
  def growAbove(node: Int): Int = {
    val root = store.allocate(store.level(node) + 1)
    store.setChild(root, 0, node)
    store.setSpine(root, NodeStore.Both)
    store.root = root
    root
  }
}
