package io.sash.papers.fiba

/**
 * The finger B-tree: search from the fingers, and the local changes of section 4. These keep the
 * invariants of height, order and arity. A search records its path, and changes go up that path.
 */
private[fiba] final class FingerTree(nodes: NodeStore) extends Aggregates(nodes) {
  private[this] val minArity = store.minArity

  /** The path of the last search, by level: its nodes, and the number of the child to go to. */
  val path, at: Array[Int] = new Array[Int](NodeStore.MaxHeight)

  /** The level at which the path begins, on a spine. */
  var top = 0

  /** Whether the path begins on the left spine. */
  private[this] var fromLeft = false

  /** Whether the last `find` has found an entry of its time. */
  var found: Boolean = false

  /** How many entries of the node that `find` has found are older. */
  var place: Int = 0

  def oldest: Long = store.time(left(0), head)

  def youngest: Long = lastTime(right(0))

  /**
   * Begins a path with the lowest node of a spine whose subtree spans `time`. The search goes up
   * from the finger on the side of `time`, seen from the root's entries.
   */
  def start(time: Long): Int = {
    val height = this.height
    fromLeft = height > 0 && time < store.time(left(height), 0)
    val spine = if (fromLeft) left else right
    var level = 0
    if (fromLeft) level = riseLeft(0, time)
    else while (level < height && time <= lastTime(spine(level + 1))) level += 1
    top = level
    path(level) = spine(level)
    level
  }

  private def lastTime(node: Int): Long = store.time(node, store.arity(node) - 2)

  private def riseLeft(from: Int, time: Long): Int = {
    var level = from
    while (level < height && time >= store.time(left(level + 1), 0)) level += 1
    level
  }

  /** Begins a path with the lowest node of a spine whose subtree spans [from, to]. */
  def start(from: Long, to: Long): Int = {
    start(from)
    if (fromLeft) {
      top = riseLeft(top, to)
      path(top) = left(top)
    }
    top
  }

  /** Lets the path begin no lower than at this level. */
  def rise(level: Int): Unit = if (level > top) {
    top = level
    path(level) = if (fromLeft) left(level) else right(level)
    at(level) = if (fromLeft) 0 else store.arity(path(level)) - 1
  }

  /**
   * Lets the path begin no lower than at this level. Puts a new root above one that was split.
   */
  def riseOrGrow(level: Int): Unit = {
    if (level > height) growAbove()
    rise(level)
  }

  /**
   * Goes to the entry of `time`, or else to the leaf in which it belongs; `found` says which.
   * Returns its level. A node is searched from its end, since out-of-order entries mostly belong
   * near the youngest.
   */
  def find(time: Long): Int = {
    var level = start(time)
    var node = path(level)
    seek(node, time)
    while (!found && level > 0) {
      node = descend(level, node, place)
      level -= 1
      seek(node, time)
    }
    level
  }

  /** Looks for a time in one node. */
  def seek(node: Int, time: Long): Unit = {
    val i = store.notYounger(node, time)
    found = i > 0 && store.time(node, i - 1) == time
    place = if (found) i - 1 else i
  }

  /** Takes child i of a node of this level into the path, and returns it. */
  def descend(level: Int, node: Int, i: Int): Int = {
    val child = store.child(node, i)
    at(level) = i
    path(level - 1) = child
    child
  }

  /** The number of entries in the node and below it, including the evicted ones before `head`. */
  def entriesUnder(node: Int): Int = entries(node, store.arity(node))

  /**
   * How many entries the first k children of a node and the first k entries in it are together.
   */
  def entries(node: Int, k: Int): Int = {
    val level = store.level(node)
    var entries = math.min(k, store.arity(node) - 1)
    var i = if (level == 0) 0 else k
    while (i > 0) {
      i -= 1
      val child = store.child(node, i)
      entries += (
        if (child == left(level - 1) || child == right(level - 1)) entriesUnder(child)
        else store.count(node, i)
      )
    }
    entries
  }

  /** Visits the entries in the node and below it by time, without the evicted ones. */
  def foreach(node: Int, visit: (Long, Int) => Unit): Unit = {
    val leaf = store.isLeaf(node)
    var i = if (node == left(0)) head else 0
    if (!leaf) foreach(store.child(node, 0), visit)
    while (i < store.arity(node) - 1) {
      visit(store.time(node, i), store.slot(node, i))
      if (!leaf) foreach(store.child(node, i + 1), visit)
      i += 1
    }
  }

  /**
   * The least arity of a node. Nodes of the right spine may be underfull, so that appends fill
   * the others, and so may be the left finger, so that evictions use it up.
   */
  def least(node: Int, level: Int): Int =
    if (level == 0 && node == left(0) || node == right(level)) 2 else minArity

  /** How many children a node can give away; negative if it lacks some. */
  def surplus(node: Int): Int = store.arity(node) - minArity

  /**
   * Removes the entries before `head` from the left finger, whose stack is then out of date.
   * Returns their number.
   */
  def settle(): Int = {
    val evicted = head
    if (evicted > 0) {
      remove(left(0), 0, evicted)
      head = 0
      leftChanged(0)
    }
    evicted
  }

  /** Removes k entries and children from i on. The caller keeps or frees those children. */
  def remove(node: Int, i: Int, k: Int): Unit = {
    val arity = store.arity(node) - k
    store.copyChildren(node, i + k, node, i, arity - i)
    store.setArity(node, arity)
  }

  /** Adds an entry, and the child to its right (0 in a leaf), as entry i of a node. */
  def add(node: Int, i: Int, time: Long, slot: Int, child: Int): Unit = {
    val arity = store.arity(node)
    store.copyChildren(node, i, node, i + 1, arity - i)
    store.setTime(node, i, time)
    store.slots.copy(store.slot(node, i), slot)
    if (child != 0) store.setChild(node, i + 1, child)
    store.setArity(node, arity + 1)
  }

  /**
   * Figure 2: moves the first k children of the neighbor to the right into a node. The entry
   * between the two nodes, `separator` of their least common ancestor, takes part in the move.
   */
  def move(node: Int, neighbor: Int, ancestor: Int, separator: Int, k: Int): Unit = {
    val arity = store.arity(node)
    store.copyEntry(ancestor, separator, node, arity - 1)
    store.copyChildren(neighbor, 0, node, arity, k)
    store.copyEntry(neighbor, k - 1, ancestor, separator)
    store.setArity(node, arity + k)
    remove(neighbor, 0, k)
  }

  /** The mirror of `move`, for one child of a sibling to the left. */
  def moveFromLeft(sibling: Int, node: Int, parent: Int, separator: Int): Unit = {
    val arity = store.arity(node)
    val last = store.arity(sibling) - 1
    store.copyChildren(node, 0, node, 1, arity)
    store.copyEntry(parent, separator, node, 0)
    store.copyChildren(sibling, last, node, 0, 1)
    store.copyEntry(sibling, last - 1, parent, separator)
    store.setArity(node, arity + 1)
    store.setArity(sibling, last)
  }

  /**
   * Figure 3: moves a node's entries and children, without the first `drop`, to the front of the
   * neighbor to the right. The entry between the two nodes comes along. The caller then frees the
   * node, of arity 0, and removes the separator.
   */
  def merge(node: Int, drop: Int, neighbor: Int, ancestor: Int, separator: Int): Unit = {
    val arity = store.arity(node) - drop
    store.copyChildren(neighbor, 0, neighbor, arity, store.arity(neighbor))
    store.copyChildren(node, drop, neighbor, 0, arity)
    store.copyEntry(ancestor, separator, neighbor, arity - 1)
    store.setArity(neighbor, arity + store.arity(neighbor))
    store.setArity(node, 0)
  }

  /**
   * Moves the entries and the children of a full node, from `first` on, to a new node, and
   * returns that node. The entry before `first` stays in its place until the parent takes it.
   */
  def splitOff(node: Int, first: Int): Int = {
    val next = store.allocate(store.level(node))
    val arity = store.maxArity - first
    store.copyChildren(node, first, next, 0, arity)
    store.setArity(node, first)
    store.setArity(next, arity)
    next
  }

  /**
   * Figures 4 and 5: makes a node of the right spine the root, and frees all nodes not below it.
   */
  def shrinkTo(node: Int, level: Int): Unit = {
    val parent = right(level + 1)
    store.setArity(parent, store.arity(parent) - 1)
    store.free(root)
    becomeRoot(node, level)
  }
}
