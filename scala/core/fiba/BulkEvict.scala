package io.sash.core.fiba

/**
 * Bulk eviction, section 4: cuts the tree along the boundary between the entries that go and
 * those that stay, and looks at no other entry.
 *
 *  1. The ''eviction boundary search'' finds, for each level from the top of the boundary down to
 *     where it ends, the node, how many of its entries go, and, to rebalance it, its neighbor to
 *     the right with their least common ancestor, which need not be the parent.
 *  1. The ''pass up'' evicts along the boundary and keeps the arity invariants, beyond the top
 *     as long as there is something to repair. What survives of the boundary is the new left
 *     spine, so that only a neighbor that gave something away needs its up aggregate. Where node
 *     and neighbor make exactly one full node, they merge (the paper moves): in-order data leave
 *     nodes of arity μ + 1 behind, and this halves their rebalancing.
 *  1. The ''pass down'' is that of [[Aggregates]].
 *
 * Cost (theorem 1): amortised O(log m) for m evicted entries, O(log n) at worst.
 */
private[fiba] final class BulkEvict(tree: FingerTree) {
  private[this] val store = tree.store

  // The boundary by level. A neighbor of 0 means that there is none: the node is on the right
  // spine.
  private[this] val nodes = new Array[Int](NodeStore.MaxHeight)
  private[this] val drops = new Array[Int](NodeStore.MaxHeight)
  private[this] val neighbors = new Array[Int](NodeStore.MaxHeight)
  private[this] val ancestors = new Array[Int](NodeStore.MaxHeight)
  private[this] var top = 0

  /** Removes the oldest entry: as long as the left finger can spare one, a step of `head`. */
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

  /** Whether the left finger, one entry short, merges with a sibling that its parent can spare. */
  private def mergesSimply(leaf: Int): Boolean = {
    val parent = store.parent(leaf)
    parent != store.root && parent != 0 && tree.surplus(parent) > 0 &&
    tree.surplus(store.child(parent, 1)) <= 1
  }

  /** What `cut` would do, but without a look at what lies above the parent. */
  private def mergeSimply(leaf: Int, parent: Int): Unit = {
    val sibling = store.child(parent, 1)
    val drop = store.head + 1
    val kept = store.arity(leaf) - 1 - drop
    tree.merge(leaf, drop, sibling, parent, 0)
    tree.dropOldest(parent, 1)
    store.free(leaf)
    tree.leftFingerMerged(sibling, drop, kept)
  }

  /** Removes all entries up to `time`, which is neither before the oldest nor the youngest. */
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
      // below the right spine little is left, so that this is what gets counted
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

  /** Makes `node` the top of the boundary, with nothing to drop yet. */
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

  /** Step 1, from the top of the boundary down; answers the level where it ends. */
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

  /** What goes, counted by the subtrees that are cut off: no evicted entry is looked at. */
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

  /** Step 2: the eviction loop, and, where a merge raises the top, the repair loop. */
  private def passUp(bottom: Int): Unit = {
    var level = bottom
    while (level != BulkEvict.Done) level = repair(level)
  }

  /** Evicts and rebalances at one level; answers the next one. */
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

  /** What lies between the node and the ancestor goes as a whole, so the ancestor comes next. */
  private def merge(node: Int, drop: Int, neighbor: Int, ancestor: Int): Int = {
    val level = store.level(ancestor)
    if (level > top) startAt(ancestor)
    tree.merge(node, drop, neighbor, ancestor, drops(level))
    if (store.spine(neighbor) != 0) tree.changed(neighbor)
    drops(level) += 1
    level
  }

  /** Shrinks the tree to a node of the right spine, or to its only child. */
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
