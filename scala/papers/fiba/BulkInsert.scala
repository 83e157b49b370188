package io.sash.papers.fiba

/**
 * Bulk insertion at or before the youngest entry, section 5.
 *
 *  1. The ''insertion sites search'' finds the site of the earliest entry from the nearer finger.
 *     It finds each further site from the site before, going up at most to their least common
 *     ancestor. If the tree already has an entry of that time, the new value is combined into it.
 *  1. The ''pass up'' turns the treelets of one level into treelets of the next. It interleaves a
 *     node's new entries with its own entries and splits nodes that are too large.
 *  1. The ''pass down'' is the one of [[Aggregates]].
 *
 * The value of an entry on its way up lies in the aggregate slot of the new node to its right.
 * That aggregate is computed once the parent has taken the entry.
 *
 * Cost (theorem 3): amortised O(log d + m(1 + log(d/m))) for m entries, where the earliest is d
 * entries from an end of the window.
 */
private[fiba] final class BulkInsert(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val pieces = new Pieces(tree)
  private[this] var current = new Treelets
  private[this] var next = new Treelets

  // The path to the latest site, from `level` up to `top`. Entries below a path node are older
  // than the node's bound.
  private[this] val path = new Array[Int](NodeStore.MaxHeight)
  private[this] val bounds = new Array[Long](NodeStore.MaxHeight)
  private[this] var level = 0
  private[this] var top = 0

  /**
   * Inserts the entries times[0, count), which ascend. Their values are in slots from `firstSlot`
   * on.
   */
  def insert(times: Array[Long], count: Int, firstSlot: Int): Unit =
    if (count > 0) {
      start(times(0))
      var i = 0
      while (i < count) {
        findSite(times(i), firstSlot + i)
        i += 1
      }
      passUp()
    }

  /** Starts the search at the lowest node of a spine whose subtree spans the earliest time. */
  private def start(earliest: Long): Unit = {
    val node = tree.top(earliest)
    if (node == store.leftFinger) tree.settle()
    current.length = 0
    riseTo(node)
  }

  private def riseTo(node: Int): Unit = {
    level = store.level(node)
    top = level
    path(level) = node
    bounds(level) = if (mayRise) store.time(store.parent(node), 0) else Long.MaxValue
  }

  /** Whether the tree has entries younger than those under the top of the path. */
  private def mayRise: Boolean = store.spine(path(top)) == NodeStore.Left

  /** Step 1 for one entry. */
  private def findSite(time: Long, slot: Int): Unit = {
    while (level < top && time >= bounds(level)) level += 1
    while (level == top && time >= bounds(level) && mayRise) riseTo(store.parent(path(level)))
    var node = path(level)
    var i = tree.older(node, time)
    while (level > 0 && !tree.isAt(node, i, time)) {
      descend(node, i)
      node = path(level)
      i = tree.older(node, time)
    }
    if (tree.isAt(node, i, time)) {
      val entry = store.slot(node, i)
      tree.combine(entry, entry, slot)
      current.add(node, time, Treelets.Recompute, 0)
    } else {
      current.add(node, time, slot, 0)
      store.size += 1
    }
  }

  private def descend(node: Int, i: Int): Unit = {
    level -= 1
    path(level) = store.child(node, i)
    bounds(level) = if (i < store.arity(node) - 1) store.time(node, i) else bounds(level + 1)
  }

  /** Step 2, from the leaves up to the level where nothing changes, and step 3. */
  private def passUp(): Unit = {
    val root = store.root
    var going = 0
    while (current.length > 0) {
      passUp(going)
      going += 1
    }
    if (store.root != root) tree.rootReplaced()
    tree.passDown()
  }

  /** Turns the events of one level into the events of the next. */
  private def passUp(level: Int): Unit = {
    next.length = 0
    var i = 0
    while (i < current.length) {
      val target = current.targets(i)
      if (store.level(target) > level) {
        next.add(target, current.times(i), Treelets.Recompute, 0)
        i += 1
      } else {
        val until = current.groupEnd(i)
        insertInto(target, i, until)
        i = until
      }
    }
    val done = current
    current = next
    next = done
  }

  /** Inserts the treelets [from, until) into their target and tells its parent. */
  private def insertInto(target: Int, from: Int, until: Int): Unit = {
    val insertions = current.insertions(from, until)
    val promoted = if (insertions > 0) interleave(target, until, insertions) else 0
    var i = from
    while (i < until) {
      if (current.children(i) != 0) tree.changed(current.children(i))
      i += 1
    }
    if (tree.changed(target) && promoted == 0) {
      next.add(store.parent(target), current.times(from), Treelets.Recompute, 0)
    }
  }

  /**
   * Interleaves a node's entries with the new ones, from the youngest to the oldest, and splits
   * (figure 6). Returns the number of promoted entries, one before each new piece.
   */
  private def interleave(target: Int, until: Int, insertions: Int): Int = {
    val leaf = store.isLeaf(target)
    var entry = store.arity(target) - 2
    var event = until - 1
    var left = insertions
    pieces.start(target, store.arity(target) + insertions, next)
    while (left > 0 || !pieces.onlyTarget) {
      while (left > 0 && current.slots(event) == Treelets.Recompute) event -= 1
      if (left > 0 && (entry < 0 || store.time(target, entry) < current.times(event))) {
        pieces.put(current.times(event), current.slots(event), current.children(event))
        event -= 1
        left -= 1
      } else {
        val child = if (leaf) 0 else store.child(target, entry + 1)
        pieces.put(store.time(target, entry), store.slot(target, entry), child)
        entry -= 1
      }
    }
    pieces.finish()
    pieces.splits
  }
}
