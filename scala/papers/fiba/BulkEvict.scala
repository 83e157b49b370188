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
 *     that gave children away needs its up aggregate. If node and neighbor make exactly one full
 *     node, they merge, where the paper moves children. In-order data leave nodes of arity μ + 1
 *     behind, and the merge halves their rebalancing.
 *  1. The ''pass down'' is the one of [[Aggregates]].
 *
 * Cost (theorem 1): amortised O(log m) for m evicted entries, O(log n) at worst.
 */
private[fiba] final class BulkEvict(tree: FingerTree) {
  private[this] val store = tree.store

  // The boundary by level. A neighbor of 0 means that the node has none, since it is on the right
  // spine.
  private[this] val nodes = new Array[Int](NodeStore.MaxHeight)
  private[this] val drops = new Array[Int](NodeStore.MaxHeight)
  private[this] val neighbors = new Array[Int](NodeStore.MaxHeight)
  private[this] val ancestors = new Array[Int](NodeStore.MaxHeight)
  private[this] var top = 0

  /** Evicts the oldest entry. If the left finger can spare it, this only advances `head`. */
  def evict(): Unit = {
    store.size -= 1
    if (tree.spare > 0) {
      tree.spare -= 1
      store.head += 1
    } else {
      evictFromScarce(store.leftFinger)
    }
  }

  private def evictFromScarce(leaf: Int): Unit =
    if (mergesSimply(leaf)) {
      mergeSimply(leaf, store.parent(leaf))
    } else {
      startAt(leaf)
      drops(0) = store.head + 1
      cut(0)
    }

  /**
   * Whether the left finger, one entry short, merges with a sibling, and the parent can spare
   * that sibling's separator.
   */
  private def mergesSimply(leaf: Int): Boolean = {
    val parent = store.parent(leaf)
    parent != store.root && parent != 0 && tree.surplus(parent) > 0 &&
    tree.surplus(store.child(parent, 1)) <= 1
  }

  /** Merges as `cut` would, but without a look at the nodes above the parent. */
  private def mergeSimply(leaf: Int, parent: Int): Unit = {
    val sibling = store.child(parent, 1)
    val drop = store.head + 1
    val kept = store.arity(leaf) - 1 - drop
    tree.merge(leaf, drop, sibling, parent, 0)
    tree.dropOldest(parent, 1)
    store.free(leaf)
    tree.leftFingerMerged(sibling, drop, kept)
  }

  /**
   * Evicts all entries up to `time`, which is neither before the oldest entry nor at the
   * youngest.
   */
  def evict(time: Long): Unit = {
    val leaf = store.leftFinger
    val drop = tree.notYounger(leaf, time)
    val step = drop - store.head
    if (step <= tree.spare) {
      store.size -= step
      store.head = drop
      tree.spare -= step
    } else {
      startAt(tree.top(time))
      // below the right spine few entries remain, so count the remaining ones
      val countsRest = nodes(top) != store.root && neighbors(top) == 0
      val bottom = search(time)
      if (!countsRest) store.size -= entriesDropped(bottom) - store.head
      cut(bottom)
      if (countsRest) store.size = tree.entriesUnder(store.root)
    }
  }

  private def cut(bottom: Int): Unit = {
    store.head = 0
    passUp(bottom)
    tree.passDown()
  }

  /** Makes `node` the top of the boundary, without entries to evict yet. */
  private def startAt(node: Int): Unit = {
    top = store.level(node)
    nodes(top) = node
    drops(top) = 0
    if (node == store.root || store.spine(node) == NodeStore.Right) {
      neighbors(top) = 0
    } else {
      val parent = store.parent(node)
      ancestors(top) = parent
      neighbors(top) = store.child(parent, 1)
      drops(top + 1) = 0
    }
  }

  /** Step 1, from the top of the boundary down. Returns the level at which the boundary ends. */
  private def search(time: Long): Int = {
    var level = top
    var going = true
    while (going) {
      val node = nodes(level)
      val drop = tree.notYounger(node, time)
      drops(level) = drop
      going = level > 0 && !tree.isAt(node, drop - 1, time)
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
      ancestors(level - 1) = node
      neighbors(level - 1) = store.child(node, drop + 1)
    } else {
      ancestors(level - 1) = ancestors(level)
      neighbors(level - 1) = store.child(neighbors(level), 0)
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
      dropped += drops(level)
      if (level > 0) {
        var i = drops(level) - 1
        while (i >= 0) {
          dropped += tree.entriesUnder(store.child(nodes(level), i))
          i -= 1
        }
      }
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
    val deficit = drop - tree.surplus(node)
    freeOldest(node, drop)
    if (neighbor != 0 && deficit > 0 && deficit >= tree.surplus(neighbor)) {
      merge(node, drop, neighbor, ancestors(level))
    } else {
      if (drop > 0) tree.dropOldest(node, drop)
      if (neighbor == 0) {
        repairRoot(node)
        BulkEvict.Done
      } else if (deficit > 0) {
        val ancestor = ancestors(level)
        tree.move(node, neighbor, ancestor, drops(store.level(ancestor)), deficit)
        tree.changed(neighbor)
        above(level, ancestor)
      } else {
        above(level, node)
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
  private def merge(node: Int, drop: Int, neighbor: Int, ancestor: Int): Int = {
    val level = store.level(ancestor)
    if (level > top) startAt(ancestor)
    tree.merge(node, drop, neighbor, ancestor, drops(level))
    if (store.spine(neighbor) != 0) tree.changed(neighbor)
    drops(level) += 1
    level
  }

  /** Shrinks the tree to a node of the right spine, or to that node's only child. */
  private def repairRoot(node: Int): Unit =
    if (store.arity(node) == 1 && !store.isLeaf(node)) tree.shrinkTo(store.child(node, 0))
    else if (node != store.root) tree.shrinkTo(node)
    else tree.leftChanged(node)

  private def freeOldest(node: Int, drop: Int): Unit =
    if (!store.isLeaf(node)) {
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
