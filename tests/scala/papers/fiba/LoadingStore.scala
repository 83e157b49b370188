package io.sash.papers.fiba

import scala.collection.mutable

import io.sash.core.TestColumn
import io.sash.core.slots.Partials

/**
 * Nodes that live elsewhere: in a map, and in slots that no algorithm sees. A node is loaded when
 * it is first named. `flush` writes changed nodes back and forgets all nodes. The slots of a node
 * that is not loaded are poison.
 */
final class LoadingStore(initial: TestColumn[_], minArity: Int) extends NodeStore(minArity) {
  private final class Node(val id: Int, val slots: Int) {
    var level, arity, parent, spine, count = 0
    val times = new Array[Long](maxArity)
    val children = new Array[Int](maxArity)
    var dirty = false

    def takeFrom(other: Node): Unit = {
      level = other.level
      arity = other.arity
      parent = other.parent
      spine = other.spine
      count = other.count
      other.times.copyToArray(times)
      other.children.copyToArray(children)
      (0 until maxArity).foreach(i => partials.copy(slots + i, other.slots + i))
    }
  }

  private var partials: Partials = initial
  private var slotsUsed, slotsCapacity = 0
  private val window = newSlots(3 * maxArity)
  private val neverWritten = newSlots(1)
  private val stored = mutable.Map.empty[Int, Node]
  private val frames = mutable.ArrayBuffer.empty[Int]
  private val loaded = mutable.ArrayBuffer.empty[Node]
  private val numbers = mutable.Map.empty[Int, Int]
  private var freed = List.empty[Int]
  private var searching = true

  /** Steps from a node to its parent, or to a child, since the last flush. */
  var steps = 0L

  /** The steps, and the nodes touched, from the last flush to the first change after it. */
  var searchSteps, searchTouched = 0L

  private def newSlots(count: Int): Int = {
    val first = slotsUsed
    slotsUsed += count
    if (slotsUsed > slotsCapacity) {
      slotsCapacity = 2 * slotsUsed
      partials = partials.grow(slotsCapacity)
    }
    first
  }

  /** The number of nodes loaded or made since the last flush. */
  def touched: Int = loaded.size

  /** The number of nodes changed since the last flush. */
  def written: Int = loaded.count(_.dirty)

  def flush(): Unit = {
    val kept = Seq(root, leftFinger, rightFinger).map(id)
    loaded.filter(_.dirty).foreach(n => stored(n.id).takeFrom(n))
    loaded.foreach(n => (0 until maxArity).foreach(i => partials.copy(n.slots + i, neverWritten)))
    loaded.clear()
    numbers.clear()
    root = number(kept(0))
    leftFinger = number(kept(1))
    rightFinger = number(kept(2))
    searching = true
    steps = 0
    noteSearch()
  }

  private def noteSearch(): Unit = {
    searchSteps = steps
    searchTouched = touched.toLong
  }

  /** Counts a step to the node with this id. */
  private def step(id: Int): Int = {
    val next = number(id)
    steps += 1
    if (searching) noteSearch()
    next
  }

  private def node(number: Int): Node = loaded(number - 1)

  private def dirty(number: Int): Node = {
    searching = false
    node(number).dirty = true
    node(number)
  }

  private def id(number: Int): Int = if (number == 0) 0 else node(number).id

  private def number(id: Int): Int =
    if (id == 0) 0
    else {
      numbers.getOrElseUpdate(
        id, {
          if (loaded.size == frames.size) frames += newSlots(maxArity)
          loaded += new Node(id, frames(loaded.size))
          loaded.last.takeFrom(stored(id))
          loaded.size
        }
      )
    }

  override def allocate(level: Int): Int = {
    val id = freed.headOption.getOrElse(stored.size + 1)
    if (freed.isEmpty) stored(id) = new Node(id, newSlots(maxArity))
    val n = dirty(number(id))
    freed = n.children.take(if (n.level > 0) n.arity else 0).toList ++ freed.drop(1)
    n.level = level
    n.arity = 1
    n.parent = 0
    n.spine = 0
    number(id)
  }

  override def free(node: Int): Unit = freed ::= id(node)

  override def level(node: Int): Int = this.node(node).level
  override def arity(node: Int): Int = this.node(node).arity
  override def setArity(node: Int, arity: Int): Unit = dirty(node).arity = arity
  override def parent(node: Int): Int = step(this.node(node).parent)
  override def detach(node: Int): Unit = dirty(node).parent = 0
  override def child(node: Int, i: Int): Int = step(this.node(node).children(i))

  override def setChild(node: Int, i: Int, child: Int): Unit = {
    dirty(node).children(i) = id(child)
    dirty(child).parent = id(node)
  }

  override def time(node: Int, i: Int): Long = this.node(node).times(i)
  override def setTime(node: Int, i: Int, time: Long): Unit = dirty(node).times(i) = time
  override def slot(node: Int, i: Int): Int = this.node(node).slots + i
  override def aggregate(node: Int): Int = slot(node, maxArity - 1)
  override def spine(node: Int): Int = this.node(node).spine
  override def setSpine(node: Int, spine: Int): Unit = dirty(node).spine = spine
  override def count(node: Int): Int = this.node(node).count
  override def setCount(node: Int, count: Int): Unit = dirty(node).count = count
  override def changed(node: Int): Unit = dirty(node).dirty = true

  override def copyEntry(src: Int, from: Int, dst: Int, to: Int): Unit = {
    setTime(dst, to, time(src, from))
    partials.copy(slot(dst, to), slot(src, from))
  }

  override def copyEntries(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit = {
    val steps = if (to <= from) 0 until count else (0 until count).reverse
    steps.foreach(i => copyEntry(src, from + i, dst, to + i))
  }

  override def copyChildren(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit = {
    val ids = node(src).children.slice(from, from + count)
    ids.copyToArray(dirty(dst).children, to)
    if (src != dst) ids.foreach(i => dirty(number(i)).parent = id(dst))
  }

  override def windowSlots: Int = window
  override def reserve(slots: Int): Int = newSlots(slots)
  override def column: Partials = partials
  override def relocate(move: Partials => Partials): Unit = partials = move(partials)
}
