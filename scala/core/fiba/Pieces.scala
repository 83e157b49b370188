package io.sash.core.fiba

/**
 * Distributes the entries of one node that may overflow over pieces that do not: the node itself
 * and, to its right, as many new nodes as claim 1 asks for, with an entry for the parent before
 * each of them. Entries come from the youngest to the oldest, so that the node itself is written
 * last and from its end: nothing is overwritten that is still to be read from it.
 */
private[fiba] final class Pieces(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val minArity = store.minArity

  private[this] var target = 0
  private[this] var arity = 0
  private[this] var promoted: Treelets = _
  private[this] var base = 0 // of the promoted entries
  private[this] var pieceCount = 0 // besides the target
  private[this] var piece = 0
  private[this] var place = 0

  /** Begins with the youngest entry of `node`, which is to get this arity before it is split. */
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

  /** New pieces; their arity and spine are those that claim 1 and the target's place give them. */
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

  /** New pieces, and entries promoted. */
  def splits: Int = pieceCount

  /** Whether only the front of the target itself is left to be written. */
  def onlyTarget: Boolean = piece == 0

  /** Puts an entry, with the child to its right (0 in a leaf), before all that came so far. */
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

  /** Gives the target its arity; what was not put is in its place already. */
  def finish(): Unit = store.setArity(target, if (pieceCount == 0) arity else minArity + 1)
}

private[fiba] object Pieces {

  /**
   * Claim 1: an arity p > 2μ is t times μ + 1 and a last one from μ to 2μ. Answers t, the number
   * of entries to promote; 0 if nothing has to be split.
   */
  def splits(arity: Int, minArity: Int): Int = {
    val wholes = arity / (minArity + 1)
    if (arity <= 2 * minArity) 0
    else if (arity % (minArity + 1) == minArity) wholes
    else wholes - 1
  }
}
