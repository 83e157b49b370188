package io.sash.papers.fiba

/**
 * Bulk eviction, section 4: cuts the tree along the boundary between evicted and remaining
 * entries, and visits no other entry.
 *
 *  1. The ''eviction boundary search'' goes down from the top of the boundary to its end. For
 *     each level it finds the node and the number of its entries to evict. For rebalancing it
 *     also finds the node's neighbor to the right and their least common ancestor, which need not
 *     be the parent.
 *  1. The ''pass up'' evicts along the boundary and restores the arities, above the top as long
 *     as a node needs repair. The rest of the boundary is the new left spine. So only a neighbor
 *     that gave children away needs a new up aggregate. A leaf needs no repair as long as it has
 *     an entry. If node and neighbor make exactly one full node, they merge here, where the paper
 *     moves children.
 *  1. The ''pass down'' is the one of [[Aggregates]].
 *
 * Cost (theorem 1): amortised O(log m) for m evicted entries, O(log n) at worst.
 */
private[fiba] final class BulkEvict(tree: FingerTree) {
  private[this] val store = tree.store

  // The boundary by level. An ancestor is named by its level. A neighbor of 0 means that the node
  // has none, since it is on the right spine.
  private[this] val nodes = new Array[Int](NodeStore.MaxHeight)
  private[this] val drops = new Array[Int](NodeStore.MaxHeight)
  private[this] val neighbors = new Array[Int](NodeStore.MaxHeight)
  private[this] val ancestors = new Array[Int](NodeStore.MaxHeight)
  private[this] var top = 0

  /** Evicts the oldest entry. */
  def evict(): Unit = evictInLeaf(tree.head + 1)

  /**
   * Evicts the entries of the left finger before `drop`, and none above it. If the finger can
   * spare them, this only advances `head`.
   */
  private def evictInLeaf(drop: Int): Unit = {
    val step = drop - tree.head
    tree.size -= step
    if (step <= tree.spare) {
      tree.spare -= step
      tree.head = drop
    } else if (mergesSimply) {
      mergeSimply(drop)
    } else {
      startAt(0)
      drops(0) = drop
      cut(0)
    }
  }

  /**
   * Whether the left finger, without its last entry, merges with a sibling, and the parent can
   * spare that sibling's separator.
   */
  private def mergesSimply: Boolean = tree.height > 1 && {
    val parent = tree.left(1)
    tree.surplus(parent) > 0 && store.arity(store.child(parent, 1)) < store.maxArity
  }

  /** Merges as `cut` would, but without a look at the nodes above the parent. */
  private def mergeSimply(drop: Int): Unit = {
    val leaf = tree.left(0)
    val parent = tree.left(1)
    val sibling = store.child(parent, 1)
    tree.merge(leaf, drop, sibling, parent, 0)
    tree.remove(parent, 0, 1)
    store.free(leaf)
    tree.leftFingerMerged(sibling)
  }

  /** Evicts all entries up to `time`, which is not before the oldest. */
  def evict(time: Long): Unit = {
    val leaf = tree.left(0)
    val entries = store.arity(leaf) - 1
    var drop = tree.head
    while (drop < entries && store.time(leaf, drop) <= time) drop += 1
    val ends = drop < entries || (tree.height > 0 && time < store.time(tree.left(1), 0))
    if (ends) evictInLeaf(drop) else evictAbove(time)
  }

  /** Evicts the whole left finger and entries above it. */
  private def evictAbove(time: Long): Unit = {
    startAt(tree.start(time))
    nodes(top) = tree.path(top)
    if (nodes(top) != tree.left(top)) neighbors(top) = 0
    // below the right spine few entries remain, so count the remaining ones
    val countsRest = top < tree.height && neighbors(top) == 0
    val bottom = search(time)
    if (!countsRest) tree.size -= entriesDropped(bottom) - tree.head
    cut(bottom)
    if (countsRest) tree.size = tree.entriesUnder(tree.root)
  }

  private def cut(bottom: Int): Unit = {
    tree.head = 0
    passUp(bottom)
    tree.passDown()
  }

  /** Lets the boundary begin with the left spine's node of a level, without entries to evict. */
  private def startAt(level: Int): Unit = {
    top = level
    nodes(top) = tree.left(top)
    drops(top) = 0
    neighbors(top) = 0
    if (top < tree.height) {
      ancestors(top) = top + 1
      neighbors(top) = store.child(tree.left(top + 1), 1)
      nodes(top + 1) = tree.left(top + 1)
      drops(top + 1) = 0
    }
  }

  /** Step 1, from the top of the boundary down. Returns the level at which the boundary ends. */
  private def search(time: Long): Int = {
    var level = top
    var going = true
    while (going) {
      val node = nodes(level)
      val drop = store.notYounger(node, time)
      drops(level) = drop
      going = level > 0 && !store.isAt(node, drop - 1, time)
      if (going) {
        descend(level, node, drop)
        level -= 1
      }
    }
    level
  }

  private def descend(level: Int, node: Int, drop: Int): Unit = {
    nodes(level - 1) = store.child(node, drop)
    if (drop < store.arity(node) - 1) {
      ancestors(level - 1) = level
      neighbors(level - 1) = store.child(node, drop + 1)
    } else {
      ancestors(level - 1) = ancestors(level)
      neighbors(level - 1) = if (neighbors(level) == 0) 0 else store.child(neighbors(level), 0)
    }
  }

  /**
   * The number of evicted entries, from the counts of the subtrees cut off, without visiting
   * them.
   */
  private def entriesDropped(bottom: Int): Int = {
    var dropped = 0
    var level = bottom
    while (level <= top) {
      dropped += tree.entries(nodes(level), drops(level))
      level += 1
    }
    dropped
  }

  /** Step 2: the eviction loop, and the repair loop if a merge raises the top. */
  private def passUp(bottom: Int): Unit = {
    var level = bottom
    while (level != BulkEvict.Done) level = repair(level)
  }

  /** Evicts and rebalances at one level. Returns the next level. */
  private def repair(level: Int): Int = {
    val node = nodes(level)
    val neighbor = neighbors(level)
    val drop = drops(level)
    val rest = store.arity(node) - drop
    val deficit = (if (level == 0) 2 else store.minArity) - rest
    if (level > 0) freeOldest(node, drop)
    if (neighbor != 0 && deficit > 0 && rest + store.arity(neighbor) <= store.maxArity) {
      merge(level, node, drop, neighbor)
    } else {
      if (drop > 0) tree.remove(node, 0, drop)
      if (neighbor == 0) {
        repairRoot(level, node)
        BulkEvict.Done
      } else if (deficit > 0) {
        val ancestor = ancestors(level)
        tree.move(node, neighbor, nodes(ancestor), drops(ancestor), deficit)
        if (ancestor == level + 1) tree.refresh(nodes(ancestor), level, drops(ancestor) + 1)
        else tree.refresh(neighbors(level + 1), level, 0)
        above(level, ancestor)
      } else {
        above(level, level)
      }
    }
  }

  private def above(level: Int, highestChanged: Int): Int =
    if (level < top) {
      level + 1
    } else {
      tree.leftChanged(highestChanged)
      BulkEvict.Done
    }

  /**
   * Merges a node into its neighbor. The next level is the ancestor's, since all nodes between
   * the two leave as a whole.
   */
  private def merge(level: Int, node: Int, drop: Int, neighbor: Int): Int = {
    val ancestor = ancestors(level)
    if (ancestor > top) startAt(ancestor)
    tree.merge(node, drop, neighbor, nodes(ancestor), drops(ancestor))
    tree.noted(neighbor, level)
    drops(ancestor) += 1
    ancestor
  }

  /** Shrinks the tree to a node of the right spine, or to that node's only child. */
  private def repairRoot(level: Int, node: Int): Unit =
    if (level > 0 && store.arity(node) == 1) tree.shrinkTo(store.child(node, 0), level - 1)
    else if (level < tree.height) tree.shrinkTo(node, level)
    else tree.leftChanged(level)

  private def freeOldest(node: Int, drop: Int): Unit = {
    var i = drop - 1
    while (i >= 0) {
      store.free(store.child(node, i))
      i -= 1
    }
  }
}

private object BulkEvict {
  private final val Done = -1
}
