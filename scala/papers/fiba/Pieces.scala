package io.sash.papers.fiba

/**
 * Splits one node with too many entries into pieces: the node itself and new nodes to its right,
 * as many as claim 1 asks for. Before each new node one entry is promoted to the parent. Entries
 * come from the youngest to the oldest, so the node itself is written last and from its end.
 * Nothing is overwritten that is still to be read from it.
 */
private[fiba] final class Pieces(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val minArity = store.minArity

  private[this] var target = 0
  private[this] var arity = 0
  private[this] var promoted: Treelets = _
  private[this] var base = 0 // the number of the first promoted entry
  private[this] var pieceCount = 0 // without the target
  private[this] var piece = 0
  private[this] var place = 0

  /** Begins with the youngest entry of `node`, which would have this arity without a split. */
  def start(node: Int, wholeArity: Int, treelets: Treelets): Unit = {
    target = node
    arity = wholeArity
    promoted = treelets
    base = treelets.length
    pieceCount = Pieces.splits(arity, minArity)
    piece = pieceCount
    place = arity - 2 - pieceCount * (minArity + 1)
    if (pieceCount > 0) addPieces()
  }

  /** Makes the new nodes. Claim 1 gives their arity, the target's place their spine. */
  private def addPieces(): Unit = {
    val spine = store.spine(target)
    val parent = if (target == store.root) tree.growAbove(target) else store.parent(target)
    var i = 1
    while (i <= pieceCount) {
      val node = store.allocate(store.level(target))
      store.setArity(node, if (i < pieceCount) minArity + 1 else lastArity)
      promoted.add(parent, 0L, store.aggregate(node), node)
      if (i == pieceCount) store.setSpine(node, spine & NodeStore.Right)
      i += 1
    }
    store.setSpine(target, spine & NodeStore.Left)
  }

  private def lastArity: Int = arity - pieceCount * (minArity + 1)

  /** The number of new nodes, which is also the number of promoted entries. */
  def splits: Int = pieceCount

  /** Whether all that is left to write is the front of the target itself. */
  def onlyTarget: Boolean = piece == 0

  /** Puts an entry, with the child to its right (0 in a leaf), before all entries put so far. */
  def put(time: Long, slot: Int, child: Int): Unit =
    if (place >= 0) {
      set(if (piece == 0) target else promoted.children(base + piece - 1), time, slot, child)
      place -= 1
    } else {
      piece -= 1
      place = minArity - 1
      promote(base + piece, time, slot, child)
    }

  private def set(node: Int, time: Long, slot: Int, child: Int): Unit = {
    store.setTime(node, place, time)
    store.slots.copy(store.slot(node, place), slot)
    if (child != 0) store.setChild(node, place + 1, child)
  }

  private def promote(treelet: Int, time: Long, slot: Int, child: Int): Unit = {
    promoted.times(treelet) = time
    store.slots.copy(promoted.slots(treelet), slot)
    if (child != 0) store.setChild(promoted.children(treelet), 0, child)
  }

  /** Sets the target's arity. The entries that were not put are already in their places. */
  def finish(): Unit = store.setArity(target, if (pieceCount == 0) arity else minArity + 1)
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
