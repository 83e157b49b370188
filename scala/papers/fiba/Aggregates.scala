package io.sash.papers.fiba

/**
 * The spines, and the location-sensitive partial aggregates of section 3.2. For a node with
 * children c0 … ca-1 and values v0 … va-2 they are
 *  - ''up'', on no spine: Π↑(c0) ⊗ v0 ⊗ … ⊗ va-2 ⊗ Π↑(ca-1)
 *  - ''inner'', the root: without c0 and ca-1
 *  - ''left'', on the left spine: without c0, then the parent's left aggregate
 *  - ''right'', on the right spine: the parent's right aggregate, then all but ca-1
 *
 * The root adds nothing to the aggregates of its children. An up aggregate lies in the parent,
 * beside the parent's entries. The other aggregates lie in slots of the window, by level. So a
 * node needs neither a pointer to its parent nor flags. Two things differ from the paper:
 *  - each node of the left spine has a stack, with the left aggregates of all its suffixes. So
 *    evicting the oldest entry, or the oldest child, is a step to the next suffix
 *  - each node of the right spine also has its right aggregate without the parent's part. So a
 *    change above the node costs one combine for it
 *
 * `refresh` brings a node's up aggregate up to date, or else notes that a spine has changed.
 * `passDown` then updates the aggregates of the spines, and must follow before the next query.
 */
private[fiba] abstract class Aggregates(final val store: NodeStore) {
  import Aggregates._

  final val answer: Int = 0
  final val opened: Int = 1
  final val ranged: Int = 2
  private[this] val inner = 3
  private[this] val maxArity = store.maxArity

  /** The nodes of the spines, by level. The root is on both, at `height`. */
  final val left, right: Array[Int] = new Array[Int](MaxHeight)
  final var height = 0

  /** The slots of the left aggregates, by level, above the left finger. */
  private[this] val leftAggregates = new Array[Int](MaxHeight)

  // The first of each level's slots: for the stack, for the right aggregate, and for the right
  // aggregate without the parent's part.
  private[this] val regions = new Array[Int](MaxHeight)

  /** How many evicted entries are still in their places at the front of the left finger. */
  final var head = 0

  /** The number of entries in the tree, without the evicted ones before `head`. */
  final var size = 0

  /** How many entries the left finger can lose before its last one; 0 if it is the root. */
  final var spare = 0

  // A bit for each level whose right aggregate without the parent's part is out of date.
  private[this] var stale = 0

  // The highest changed level of each spine, or -1, and whether the root has changed.
  private[this] var leftTop = -1
  private[this] var rightTop = -1
  private[this] var rootChanged = false

  // All of the above at the beginning of an operation, for `undo`.
  private[this] val before = new Array[Int](if (store.undoes) 3 * MaxHeight + 5 else 0)

  /** Begins an operation that `undo` can take back. */
  final def begin(): Unit = if (store.undoes) {
    store.begin()
    System.arraycopy(left, 0, before, 0, MaxHeight)
    System.arraycopy(right, 0, before, MaxHeight, MaxHeight)
    System.arraycopy(leftAggregates, 0, before, 2 * MaxHeight, MaxHeight)
    before(3 * MaxHeight) = height
    before(3 * MaxHeight + 1) = head
    before(3 * MaxHeight + 2) = size
    before(3 * MaxHeight + 3) = spare
    before(3 * MaxHeight + 4) = stale
  }

  final def undo(): Unit = if (store.undoes) {
    store.undo()
    System.arraycopy(before, 0, left, 0, MaxHeight)
    System.arraycopy(before, MaxHeight, right, 0, MaxHeight)
    System.arraycopy(before, 2 * MaxHeight, leftAggregates, 0, MaxHeight)
    height = before(3 * MaxHeight)
    head = before(3 * MaxHeight + 1)
    size = before(3 * MaxHeight + 2)
    spare = before(3 * MaxHeight + 3)
    stale = before(3 * MaxHeight + 4)
    nothingChanged()
  }

  private def nothingChanged(): Unit = {
    leftTop = -1
    rightTop = -1
    rootChanged = false
  }

  final def root: Int = left(height)

  /** Makes the tree empty: one leaf without entries. */
  final def plant(): Unit = {
    head = 0
    size = 0
    becomeRoot(store.allocate(0), 0)
    nothingChanged()
  }

  /** Makes a node the root, and all below it the tree. */
  final def becomeRoot(node: Int, level: Int): Unit = {
    height = level
    left(level) = node
    right(level) = node
    rootChanged = true
    leftTop = level - 1
    rightTop = level - 1
    if (level == 0) spare = 0
    else {
      left(level - 1) = store.child(node, 0)
      setRight(level - 1, store.child(node, store.arity(node) - 1))
    }
  }

  /** Puts a root of arity 1, without entries, above the present root. */
  final def growAbove(): Int = {
    if (regions(height) == 0) regions(height) = store.slotsOfSpines()
    val grown = store.allocate(height + 1)
    store.setChild(grown, 0, root)
    leftTop = height
    rightTop = height
    stale |= 1 << height
    height += 1
    left(height) = grown
    right(height) = grown
    rootChanged = true
    grown
  }

  /** Puts a node into the right spine, at its level. */
  final def setRight(level: Int, node: Int): Unit = if (right(level) != node) {
    right(level) = node
    stale |= 1 << level
  }

  final def combine(dst: Int, left: Int, right: Int): Unit =
    store.slots.combine(dst, left, right)

  /** Π(leftFinger) ⊗ Π(root) ⊗ Π(rightFinger): at most two combines. */
  final def query(): Int =
    if (height > 0) {
      val column = store.slots
      val region = regions(0)
      column.combine(answer, region + head, inner)
      column.combine(answer, answer, region + 2 * maxArity)
      answer
    } else {
      if (size == 0) store.slots.identity(inner)
      inner
    }

  /** The slot of the right aggregate of a level, or of the root's inner one. */
  final def rightAggregate(level: Int): Int =
    if (level == height) inner else regions(level) + 2 * maxArity

  private def withoutParents(level: Int): Int = regions(level) + 2 * maxArity + 1

  /**
   * The slot of the left aggregate of a level. The left finger's includes the evicted entries.
   */
  final def leftAggregate(level: Int): Int =
    if (level == 0) regions(0) else leftAggregates(level)

  /** Appends a value at the end of the right finger's aggregate. */
  final def extend(value: Int): Unit = {
    stale |= 1
    val aggregate = rightAggregate(0)
    combine(aggregate, aggregate, value)
  }

  /**
   * Appends a child that has left the right spine, and the entry after it, to a level's right
   * aggregate, or to the root's inner one. Does nothing if `passDown` will compute it anew.
   */
  final def extend(level: Int, child: Int, entry: Int): Unit = {
    stale |= 1 << level
    if (!(if (level == height) rootChanged else level <= rightTop)) {
      val aggregate = rightAggregate(level)
      combine(aggregate, aggregate, child)
      combine(aggregate, aggregate, entry)
    }
  }

  /**
   * Combines a value, which has come below a child on no spine, into the aggregates of a node of
   * the right spine or of the root, and into those below. Returns whether the node is one.
   */
  final def addedRight(node: Int, level: Int, value: Int): Boolean =
    if (level == height) {
      combine(inner, inner, value)
      true
    } else if (node == right(level)) {
      if ((stale >> level & 1) == 0)
        combine(withoutParents(level), withoutParents(level), value)
      var below = level
      while (below >= 0) {
        combine(rightAggregate(below), rightAggregate(below), value)
        below -= 1
      }
      true
    } else {
      false
    }

  /** Appends the first value of an empty tree. */
  final def beginWith(value: Int): Unit = store.slots.copy(inner, value)

  /** Notes a change of a node if it is on a spine. Returns whether it is. */
  final def noted(node: Int, level: Int): Boolean =
    if (level == height) {
      rootChanged = true
      true
    } else if (node == left(level)) {
      leftTop = math.max(leftTop, level)
      true
    } else if (node == right(level)) {
      rightTop = math.max(rightTop, level)
      stale |= 1 << level
      true
    } else {
      false
    }

  /**
   * Notes that a child of this level has changed. If it is on no spine, its parent gets its
   * aggregate and its count at once.
   */
  final def refresh(parent: Int, level: Int, i: Int): Unit = {
    val child = store.child(parent, i)
    if (!noted(child, level)) {
      var entries = store.arity(child) - 1
      if (level > 0) {
        var k = entries
        while (k >= 0) {
          entries += store.count(child, k)
          k -= 1
        }
      }
      store.addCount(parent, i, entries - store.count(parent, i))
      computeUp(store.aggregate(parent, i), child, level)
    }
  }

  /** Computes a node's up aggregate. */
  final def computeUp(dst: Int, node: Int, level: Int): Unit = {
    val first = store.aggregate(node, 0)
    val entries = store.arity(node) - 1
    fold(dst, first, first + (if (level == 0) entries - 1 else 2 * entries))
  }

  /** `dst <- first ⊗ … ⊗ last`; there is at least one. */
  private def fold(dst: Int, first: Int, last: Int): Unit = {
    store.slots.copy(dst, first)
    store.slots.foldRange(dst, first + 1, last)
  }

  /** Notes that the left spine has changed from this level on. */
  final def leftChanged(level: Int): Unit =
    if (level == height) {
      rootChanged = true
      leftTop = level - 1
      if (level > 0) left(level - 1) = store.child(root, 0)
    } else {
      leftTop = level
    }

  /** Notes that all nodes of the right spine below the root are new. */
  final def rightReplaced(): Unit = {
    rightTop = height - 1
    stale |= (1 << height) - 1
  }

  /** Passes all noted changes down to the fingers: the spines and their aggregates. */
  final def passDown(): Unit = {
    if (rootChanged) {
      val entries = store.arity(root) - 1
      val first = store.aggregate(root, 0)
      if (height > 0) fold(inner, first + 1, first + 2 * entries - 1)
      else if (entries > 0) fold(inner, first, first + entries - 1)
    }
    if (leftTop >= 0) passDownLeft()
    if (rightTop >= 0) passDownRight()
    nothingChanged()
  }

  private def passDownLeft(): Unit = {
    var level = leftTop
    while (level > 0) {
      val first = store.aggregate(left(level), 0) + 1
      stack(level, first, 0, 2 * (store.arity(left(level)) - 1))
      leftAggregates(level) = regions(level)
      left(level - 1) = store.child(left(level), 0)
      level -= 1
    }
    val leaf = left(0)
    stack(0, store.aggregate(leaf, 0), head, store.arity(leaf) - 1)
    spare = store.arity(leaf) - 2 - head
  }

  /** Stacks the left aggregates of a level's suffixes, the first from operand `from` on. */
  private def stack(level: Int, first: Int, from: Int, until: Int): Unit = {
    val region = regions(level)
    store.slots.move(region + from, first + from, until - from)
    if (level + 1 == height) {
      store.slots.suffixes(region + from, region + until - 1)
    } else {
      store.slots.copy(region + until, leftAggregates(level + 1))
      store.slots.suffixes(region + from, region + until)
    }
  }

  private def passDownRight(): Unit = {
    var level = rightTop
    while (level >= 0) {
      val without = withoutParents(level)
      if ((stale >> level & 1) != 0) {
        val node = right(level)
        val first = store.aggregate(node, 0)
        val entries = store.arity(node) - 1
        fold(without, first, first + (if (level == 0) entries else 2 * entries) - 1)
        if (level > 0) setRight(level - 1, store.child(node, entries))
      }
      if (level + 1 == height) store.slots.copy(rightAggregate(level), without)
      else combine(rightAggregate(level), rightAggregate(level + 1), without)
      level -= 1
    }
    stale &= -1 << rightTop + 1
  }

  /**
   * The left finger has become the front of its sibling, after the oldest entry of their parent.
   * The parent's next suffix is then its own.
   */
  final def leftFingerMerged(sibling: Int): Unit = {
    leftAggregates(1) += 2
    left(0) = sibling
    head = 0
    leftTop = 0
    passDown()
  }
}

private[fiba] object Aggregates {
  private final val MaxHeight = NodeStore.MaxHeight
}
