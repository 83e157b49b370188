package io.sash.papers.fiba

/**
 * The location-sensitive partial aggregates of section 3.2, for a node with children c0 … ca-1
 * and values v0 … va-2:
 *  - ''up'', on no spine: Π↑(c0) ⊗ v0 ⊗ … ⊗ va-2 ⊗ Π↑(ca-1)
 *  - ''inner'', the root: without c0 and ca-1
 *  - ''left'', on the left spine: without c0, then the parent's left aggregate
 *  - ''right'', on the right spine: the parent's right aggregate, then all but ca-1
 *
 * If the parent is the root, it adds nothing. One thing differs from the paper: the left finger
 * and its parent have no left aggregate in their own slots. Instead, slots of the window hold two
 * stacks, with the left aggregates of all suffixes of each of the two nodes. So evicting the
 * oldest entry, or the oldest leaf, is a step to the next suffix, without a combine. A root has
 * no stack: it holds an inner aggregate.
 *
 * `changed` notes a change. It updates an up aggregate at once. Aggregates that depend on a
 * parent are updated by `passDown`, which must follow before the next query.
 */
private[fiba] abstract class Aggregates(final val store: NodeStore) {
  final val answer: Int = store.windowSlots
  final val opened: Int = store.windowSlots + 1
  final val ranged: Int = store.windowSlots + 2
  private[this] val suffixes = store.windowSlots + store.maxArity
  private[this] val parentSuffixes = store.windowSlots + 2 * store.maxArity

  // The slots from which a node's aggregate is computed.
  private[this] val operands = new Array[Int](2 * store.maxArity + 1)

  // The entries that the left finger's parent has lost since its suffixes were stacked.
  private[this] var parentHead = 0

  /** Entries that the left finger can lose before it is underfull; 0 if it is the root. */
  final var spare = 0

  // `parentHead` and `spare` at the beginning of the operation, for `undo`.
  private[this] var parentHeadBefore = 0
  private[this] var spareBefore = 0

  // The highest changed node of each spine, or 0, and whether the root has changed.
  private[this] var leftTop = 0
  private[this] var rightTop = 0
  private[this] var rootChanged = false

  /** Begins an operation that `undo` can take back. */
  final def begin(): Unit = {
    parentHeadBefore = parentHead
    spareBefore = spare
    store.begin()
  }

  final def undo(): Unit = {
    store.undo()
    parentHead = parentHeadBefore
    spare = spareBefore
    rootChanged = false
    leftTop = 0
    rightTop = 0
  }

  final def combine(dst: Int, left: Int, right: Int): Unit =
    store.slots.combine(dst, left, right)

  /** Π(leftFinger) ⊗ Π(root) ⊗ Π(rightFinger): at most two combines. */
  final def query(): Int =
    if (store.size == 0) {
      store.slots.identity(answer)
      answer
    } else if (store.leftFinger == store.root) {
      store.aggregate(store.root)
    } else {
      val column = store.slots
      column.combine(answer, suffixes + store.head, store.aggregate(store.root))
      column.combine(answer, answer, store.aggregate(store.rightFinger))
      answer
    }

  /** Appends an operand at the end of a node's aggregate, for a value at the end of the tree. */
  final def extend(node: Int, operand: Int): Unit = {
    val aggregate = store.aggregate(node)
    combine(aggregate, aggregate, operand)
    store.changed(node)
  }

  /**
   * Notes that a node's entries or children have changed. Returns whether its up aggregate has
   * changed, and so the parent's must.
   */
  final def changed(node: Int): Boolean =
    if (store.spine(node) == 0) {
      recount(node)
      recomputeUp(node)
      true
    } else {
      noteSpine(node)
      false
    }

  /**
   * Updates a node on no spine that has `added` more entries, in it or below it. `last` is the
   * slot of the new value if that value comes last in the node's subtree; it is combined into the
   * aggregate. If `last` is NoSlot, the aggregate is recomputed.
   */
  final def grown(node: Int, added: Int, last: Int): Unit = {
    store.setCount(node, store.count(node) + added)
    if (last == Aggregates.NoSlot) recomputeUp(node) else extend(node, last)
  }

  private def noteSpine(node: Int): Unit =
    if (node == store.root) rootChanged = true
    else if (store.spine(node) == NodeStore.Right) rightTop = higher(node, rightTop)
    else leftTop = higher(node, leftTop)

  /**
   * The higher of two changed nodes on one spine. At the same level `node` has replaced the
   * other.
   */
  private def higher(node: Int, top: Int): Int =
    if (top == 0 || store.level(node) >= store.level(top)) node else top

  /** Notes that the left spine has changed from `node` on. The node may be new to the spine. */
  final def leftChanged(node: Int): Unit =
    if (node != store.root) {
      leftTop = node
    } else {
      rootChanged = true
      if (!store.isLeaf(node)) leftTop = store.child(node, 0)
    }

  /** Notes that the tree has another root. */
  final def rootReplaced(): Unit = {
    val root = store.root
    store.setSpine(root, NodeStore.Both)
    rootChanged = true
    if (store.isLeaf(root)) {
      store.leftFinger = root
      store.rightFinger = root
      spare = 0
      leftTop = 0
      rightTop = 0
    } else {
      leftTop = store.child(root, 0)
      rightTop = store.child(root, store.arity(root) - 1)
    }
  }

  /** Passes all noted changes down to the fingers: sets flags, aggregates and the fingers. */
  final def passDown(): Unit = {
    if (rootChanged) recomputeInner(store.root)
    if (leftTop != 0) passDownLeft(leftTop)
    if (rightTop != 0) passDownRight(rightTop)
    rootChanged = false
    leftTop = 0
    rightTop = 0
  }

  private def passDownLeft(from: Int): Unit = {
    var node = from
    store.setSpine(node, NodeStore.Left)
    while (!store.isLeaf(node)) {
      if (store.level(node) == 1) stackParent(node)
      else recompute(node, Aggregates.NoSlot, first = false, last = true, above(node))
      node = store.child(node, 0)
      store.setSpine(node, NodeStore.Left)
    }
    store.leftFinger = node
    stackSuffixes(store.head)
  }

  private def passDownRight(from: Int): Unit = {
    var node = from
    store.setSpine(node, NodeStore.Right)
    while (!store.isLeaf(node)) {
      recompute(node, above(node), first = true, last = false, Aggregates.NoSlot)
      node = store.child(node, store.arity(node) - 1)
      store.setSpine(node, NodeStore.Right)
    }
    store.rightFinger = node
    recompute(node, above(node), first = true, last = false, Aggregates.NoSlot)
  }

  /** The slot of the parent's spine aggregate, or NoSlot if the parent is the root. */
  private def above(node: Int): Int = {
    val parent = store.parent(node)
    if (parent == store.root) Aggregates.NoSlot else store.aggregate(parent)
  }

  /** The slot of the left aggregate of a node above the left finger. */
  final def leftAggregate(node: Int): Int =
    if (store.level(node) > 1) store.aggregate(node) else parentSuffixes + parentHead

  /**
   * The left finger, without its first `drop` entries, has become the front of its sibling. The
   * oldest entry of their parent lies between the two parts. The stacked aggregates of those
   * `kept` suffixes stay valid and move to the first places of the stack.
   */
  final def leftFingerMerged(sibling: Int, drop: Int, kept: Int): Unit = {
    var i = 0
    while (i < kept) {
      store.slots.copy(suffixes + i, suffixes + drop + i)
      i += 1
    }
    store.slots.copy(suffixes + kept, parentSuffixes + parentHead)
    parentHead += 1
    store.leftFinger = sibling
    store.head = 0
    store.setSpine(sibling, NodeStore.Left)
    stackSuffixes(kept + 1)
  }

  /** Stacks the suffixes that are missing after a tree was taken over from a store. */
  final def stackAll(): Unit =
    if (store.leftFinger != store.root) {
      val parent = store.parent(store.leftFinger)
      if (parent != store.root) stackParent(parent)
      stackSuffixes(store.head)
    }

  /** Stacks the left aggregates of the left finger's suffixes that start at `first` or later. */
  private def stackSuffixes(first: Int): Unit = {
    val column = store.slots
    val leaf = store.leftFinger
    val parent = store.parent(leaf)
    var i = store.arity(leaf) - 2
    var younger = suffixes + i
    if (parent != store.root) {
      younger = leftAggregate(parent)
    } else {
      column.copy(younger, store.slot(leaf, i))
      i -= 1
    }
    while (i >= first) {
      column.combine(suffixes + i, store.slot(leaf, i), younger)
      younger = suffixes + i
      i -= 1
    }
    spare = store.arity(leaf) - store.minArity - store.head
  }

  /**
   * Stacks the suffixes of the left finger's parent. Each step adds an entry and its right child.
   */
  private def stackParent(parent: Int): Unit = {
    var younger = above(parent)
    var i = store.arity(parent) - 2
    while (i >= 0) {
      val suffix = parentSuffixes + i
      combine(suffix, store.slot(parent, i), store.aggregate(store.child(parent, i + 1)))
      if (younger != Aggregates.NoSlot) combine(suffix, suffix, younger)
      younger = suffix
      i -= 1
    }
    parentHead = 0
  }

  private def recomputeUp(node: Int): Unit =
    recompute(node, Aggregates.NoSlot, first = true, last = true, Aggregates.NoSlot)

  private def recount(node: Int): Unit = {
    var count = store.arity(node) - 1
    if (!store.isLeaf(node)) {
      var i = count
      while (i >= 0) {
        count += store.count(store.child(node, i))
        i -= 1
      }
    }
    store.setCount(node, count)
  }

  private def recomputeInner(root: Int): Unit =
    if (store.arity(root) > 1) {
      recompute(root, Aggregates.NoSlot, first = false, last = false, Aggregates.NoSlot)
    }

  /**
   * Recomputes a node's aggregate. `first` and `last` say whether it includes the first and the
   * last child, if the node has children. `before` and `after` are operands at the ends, or
   * NoSlot.
   */
  private def recompute(
      node: Int,
      before: Int,
      first: Boolean,
      last: Boolean,
      after: Int
  ): Unit = {
    val operands = this.operands
    val entries = store.arity(node) - 1
    var count = 0
    if (before != Aggregates.NoSlot) {
      operands(0) = before
      count = 1
    }
    if (store.isLeaf(node)) {
      var i = 0
      while (i < entries) {
        operands(count) = store.slot(node, i)
        count += 1
        i += 1
      }
    } else {
      if (first) {
        operands(count) = store.aggregate(store.child(node, 0))
        count += 1
      }
      operands(count) = store.slot(node, 0)
      count += 1
      var i = 1
      while (i < entries) {
        operands(count) = store.aggregate(store.child(node, i))
        operands(count + 1) = store.slot(node, i)
        count += 2
        i += 1
      }
      if (last) {
        operands(count) = store.aggregate(store.child(node, entries))
        count += 1
      }
    }
    if (after != Aggregates.NoSlot) {
      operands(count) = after
      count += 1
    }
    store.slots.fold(store.aggregate(node), operands, count)
    store.changed(node)
  }
}

private[fiba] object Aggregates {

  /** Stands for an operand that would be the identity and is left out. */
  final val NoSlot = -1
}
