package io.sash.papers.fiba

/**
 * Interleaves a node's entries with new ones. If there are too many, splits the node (figure 6):
 * into the node itself and new nodes to its right, as many as claim 1 asks for. Before each new
 * node one entry is promoted to the parent. Its value lies in the spare slot of that new node.
 *
 * Entries come from the youngest to the oldest, so the node itself is written last and from its
 * end. Nothing is overwritten that is still to be read from it.
 */
private[fiba] final class Pieces(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val minArity = store.minArity

  private[this] var target = 0
  private[this] var level = 0
  private[this] var treelets: Treelets = _
  private[this] var promoted = 0 // the first promoted treelet
  private[this] var piece = 0 // the node that is being written, or 0 if it is the target
  private[this] var place = 0

  /** Replaces the node's treelets, from `base` on, by the treelets that it promotes. */
  def interleave(node: Int, level: Int, treelets: Treelets, base: Int): Unit = {
    target = node
    this.level = level
    this.treelets = treelets
    promoted = treelets.length
    var entry = store.arity(node) - 2
    start(store.arity(node) + promoted - base)
    var i = promoted - 1
    while (i >= base || piece > 0) {
      if (i >= base && (entry < 0 || store.time(node, entry) < treelets.times(i))) {
        put(treelets.times(i), treelets.slots(i), treelets.children(i))
        i -= 1
      } else {
        put(entry)
        entry -= 1
      }
    }
    treelets.remove(base, promoted)
  }

  /** Makes the new nodes. Claim 1 gives their arity. */
  private def start(arity: Int): Unit = {
    piece = Pieces.splits(arity, minArity)
    val last = arity - piece * (minArity + 1)
    var i = 1
    while (i <= piece) {
      val node = store.allocate(level)
      store.setArity(node, if (i < piece) minArity + 1 else last)
      treelets.add(0L, store.spare(node), node)
      if (i == piece && target == tree.right(level)) tree.setRight(level, node)
      i += 1
    }
    store.setArity(target, if (piece == 0) arity else minArity + 1)
    place = last - 2
  }

  private def written: Int = if (piece == 0) target else treelets.children(promoted + piece - 1)

  /** Puts an entry, with a new child to its right, before all entries put so far. */
  private def put(time: Long, slot: Int, child: Int): Unit = {
    val node = written
    if (place >= 0) {
      store.setTime(node, place, time)
      store.slots.copy(store.slot(node, place), slot)
    } else {
      promote(time, slot)
    }
    if (child != 0) {
      store.setChild(node, place + 1, child)
      tree.refresh(node, level - 1, place + 1)
    }
    advance()
  }

  /** Puts an entry of the target's own, with the child to its right. */
  private def put(entry: Int): Unit = {
    val node = written
    store.copyChildren(target, entry + 1, node, place + 1, 1)
    if (place >= 0) store.copyEntry(target, entry, node, place)
    else promote(store.time(target, entry), store.slot(target, entry))
    advance()
  }

  private def promote(time: Long, slot: Int): Unit = {
    treelets.times(promoted + piece - 1) = time
    store.slots.copy(treelets.slots(promoted + piece - 1), slot)
  }

  private def advance(): Unit =
    if (place >= 0) place -= 1
    else {
      piece -= 1
      place = minArity - 1
    }
}

private[fiba] object Pieces {

  /**
   * Claim 1: an arity p > 2μ consists of t parts of μ + 1 and a last part from μ to 2μ. Returns
   * t, the number of entries to promote, or 0 if no split is needed.
   */
  def splits(arity: Int, minArity: Int): Int = {
    val wholes = arity / (minArity + 1)
    if (arity <= 2 * minArity) 0
    else if (arity % (minArity + 1) == minArity) wholes
    else wholes - 1
  }
}
