package io.sash.papers.fiba

import java.util.Arrays

import io.sash.core.slots.Partials

/**
 * An array store that notes the old content of all that an operation overwrites. Numbers are
 * noted as they are, slots as copies in nodes allocated for that. Nodes that the operation
 * allocated itself need no note. Nodes that the operation frees stay until its end.
 *
 * Cost: a copy for each slot that is overwritten, in operations that call `begin`. An append to a
 * leaf with room does not call it, nor does an eviction that the left finger can spare.
 */
private[fiba] final class UndoingNodeStore(initial: Partials, minArity: Int)
    extends ArrayNodeStore(initial, minArity) {
  import ArrayNodeStore._

  private[this] var noting = false
  private[this] var operation = 0
  private[this] var madeBy = new Array[Int](16) // each node's allocating operation
  private[this] val oldTimes, oldChildren, oldFields, oldSlots = new Overwritten
  private[this] val ends = new Array[Int](5) // the five fields of `NodeStore`
  private[this] val allocated, copies, freed = new NodeList

  override val slots: Partials = new Partials {
    override def identity(dst: Int): Unit = {
      noteSlot(dst)
      column.identity(dst)
    }

    override def combine(dst: Int, left: Int, right: Int): Unit = {
      noteSlot(dst)
      column.combine(dst, left, right)
    }

    override def fold(dst: Int, slots: Array[Int], count: Int): Unit = {
      noteSlot(dst)
      column.fold(dst, slots, count)
    }

    override def copy(dst: Int, src: Int): Unit = {
      noteSlot(dst)
      column.copy(dst, src)
    }

    override def grow(slots: Int): Partials =
      throw new UnsupportedOperationException("the store grows its column")
  }

  override def begin(): Unit = {
    noting = true
    operation += 1
    ends(0) = root
    ends(1) = leftFinger
    ends(2) = rightFinger
    ends(3) = head
    ends(4) = size
  }

  override def commit(): Unit = {
    noting = false
    while (freed.length > 0) super.free(freed.removeLast())
    allocated.clear()
    forget()
  }

  override def undo(): Unit = {
    noting = false
    oldSlots.undo((slot, copy) => column.copy(slot, copy.toInt))
    oldTimes.undo((place, time) => times(place) = time)
    oldChildren.undo((place, child) => children(place) = child.toInt)
    oldFields.undo((place, field) => fields(place) = field.toInt)
    root = ends(0)
    leftFinger = ends(1)
    rightFinger = ends(2)
    head = ends(3)
    size = ends(4)
    freed.clear()
    freeAlone(allocated)
    forget()
  }

  private def forget(): Unit = {
    oldTimes.clear()
    oldChildren.clear()
    oldFields.clear()
    oldSlots.clear()
    freeAlone(copies)
  }

  /**
   * Frees nodes as leaves, since the nodes that were below them before their reuse are free
   * already.
   */
  private def freeAlone(nodes: NodeList): Unit =
    while (nodes.length > 0) {
      val node = nodes.removeLast()
      fields((node << 2) + Level) = 0
      super.free(node)
    }

  override def allocate(level: Int): Int = {
    val node = super.allocate(level)
    if (noting) {
      allocated.add(node)
      if (node >= madeBy.length)
        madeBy = Arrays.copyOf(madeBy, math.max(node + 1, 2 * madeBy.length))
      madeBy(node) = operation
    }
    node
  }

  /** Whether writes to this node have to be noted. */
  private def isNoted(node: Int): Boolean =
    noting && (node >= madeBy.length || madeBy(node) != operation)

  override def free(node: Int): Unit = if (noting) freed.add(node) else super.free(node)

  private def noteSlot(slot: Int): Unit =
    if (isNoted(slot >> shift)) {
      val place = oldSlots.length & (maxArity - 1)
      if (place == 0) copies.add(super.allocate(0))
      val copy = (copies.last << shift) + place
      column.copy(copy, slot)
      oldSlots.add(slot, copy.toLong)
    }

  private def noteField(place: Int): Unit =
    if (isNoted(place >> 2)) oldFields.add(place, fields(place).toLong)

  private def noteEntries(first: Int, count: Int): Unit =
    if (isNoted(first >> shift)) {
      var place = first
      while (place < first + count) {
        oldTimes.add(place, times(place))
        noteSlot(place)
        place += 1
      }
    }

  override def detach(node: Int): Unit = {
    noteField(node << 2)
    super.detach(node)
  }

  override def setArity(node: Int, arity: Int): Unit = {
    noteField((node << 2) + Arity)
    super.setArity(node, arity)
  }

  override def setSpine(node: Int, spine: Int): Unit = {
    noteField((node << 2) + Level)
    super.setSpine(node, spine)
  }

  override def setCount(node: Int, count: Int): Unit = {
    noteField((node << 2) + Count)
    super.setCount(node, count)
  }

  override def setChild(node: Int, i: Int, child: Int): Unit = {
    val place = (node << shift) + i
    if (isNoted(node)) oldChildren.add(place, children(place).toLong)
    noteField(child << 2)
    super.setChild(node, i, child)
  }

  override def setTime(node: Int, i: Int, time: Long): Unit = {
    val place = (node << shift) + i
    if (isNoted(node)) oldTimes.add(place, times(place))
    super.setTime(node, i, time)
  }

  override def copyEntry(src: Int, from: Int, dst: Int, to: Int): Unit = {
    noteEntries((dst << shift) + to, 1)
    super.copyEntry(src, from, dst, to)
  }

  override def copyEntries(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit = {
    noteEntries((dst << shift) + to, count)
    super.copyEntries(src, from, dst, to, count)
  }

  override def copyChildren(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit = {
    if (noting) {
      var i = 0
      while (i < count) {
        val place = (dst << shift) + to + i
        if (isNoted(dst)) oldChildren.add(place, children(place).toLong)
        noteField(children((src << shift) + from + i) << 2)
        i += 1
      }
    }
    super.copyChildren(src, from, dst, to, count)
  }
}
