package io.sash.core.fiba

/**
 * Bulk insertion at or before the youngest entry, section 5.
 *
 *  1. The ''insertion sites search'' finds where the earliest entry belongs from the nearer
 *     finger, and every further one from the site before it, no higher than their least common
 *     ancestor. An entry whose time is there already is combined into it.
 *  1. The ''pass up'' takes the treelets of one level to those of the next: it interleaves what is
 *     inserted into a node with the node's own entries and splits what is too large.
 *  1. The ''pass down'' is that of [[Aggregates]].
 *
 * An entry on its way up waits in the slot of the aggregate of the new node to its right, which
 * is computed when the parent has taken the entry.
 *
 * Cost (theorem 3): amortised O(log d + m(1 + log(d/m))) for m entries of which the earliest is d
 * entries from an end of the window.
 */
private[fiba] final class BulkInsert(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val pieces = new Pieces(tree)
  private[this] var current = new Treelets
  private[this] var next = new Treelets

  // The path to the latest site, from `level` up to `top`; what lies below a node of it is
  // older than the node's bound.
  private[this] val path = new Array[Int](NodeStore.MaxHeight)
  private[this] val bounds = new Array[Long](NodeStore.MaxHeight)
  private[this] var level = 0
  private[this] var top = 0

  /** Inserts the entries of times[0, count), which ascend, with values from `firstSlot` on. */
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

  /** Starts the search at the lowest node of a spine that straddles the earliest entry. */
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

  /** Whether there are younger entries than those below the top. */
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

  /** Step 2 from the leaves up to where nothing changes, and step 3. */
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

  /** Takes the events of one level to those of the next. */
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

  /** Inserts the treelets [from, until) into their target and says so to its parent. */
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
   * Interleaves a node's entries with those to be inserted, from the youngest to the oldest, and
   * splits (figure 6). Answers how many entries were promoted, one before each new piece.
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
