package io.sash.papers.fiba

import java.util.Arrays

import io.sash.core.slots.Partials

/**
 * A store that notes the old content of each word and slot that an operation overwrites. Words
 * are noted as they are, slots as copies in leaves allocated for that. Nodes that the operation
 * allocated itself need no note. Nodes that the operation frees stay until its end.
 *
 * Cost: a copy for each slot that is overwritten, in operations that call `begin`. An append of
 * one value to a leaf with room does not call it, nor does an eviction of one value that the left
 * finger can spare.
 */
private[fiba] class UndoingNodeStore(initial: Partials, minArity: Int)
    extends NodeStore(initial, minArity) {
  private[this] var noting = false
  private[this] var operation = 0
  private[this] var madeBy = new Array[Int](16) // each unit's allocating operation
  private[this] val oldWords, oldSlots = new Overwritten
  private[this] val allocated, copies, freed = new NodeList

  override val slots: Partials = new Partials {
    private def noted(dst: Int): Partials = {
      noteSlot(dst)
      column
    }

    override def identity(dst: Int): Unit = noted(dst).identity(dst)
    override def combine(dst: Int, left: Int, right: Int): Unit =
      noted(dst).combine(dst, left, right)
    override def foldRange(dst: Int, first: Int, last: Int): Unit =
      if (first <= last) noted(dst).foldRange(dst, first, last)
    override def copy(dst: Int, src: Int): Unit = noted(dst).copy(dst, src)

    override def move(dst: Int, src: Int, count: Int): Unit = {
      noteSlots(dst, count)
      column.move(dst, src, count)
    }

    override def suffixes(first: Int, last: Int): Unit = {
      noteSlots(first, last - first)
      column.suffixes(first, last)
    }

    override def grow(slots: Int): Partials =
      throw new UnsupportedOperationException("the store grows its column")
  }

  override def undoes: Boolean = true

  override def begin(): Unit = {
    noting = true
    operation += 1
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
    oldWords.undo((place, word) => words(place) = word)
    freed.clear()
    // the nodes that were below these before their reuse are free already
    while (allocated.length > 0) freeAlone(allocated.removeLast())
    forget()
  }

  private def forget(): Unit = {
    oldWords.clear()
    oldSlots.clear()
    while (copies.length > 0) freeAlone(copies.removeLast())
  }

  override def allocate(level: Int): Int = {
    val node = super.allocate(level)
    if (noting) {
      allocated.add(node)
      made(node >> shift)
      if (level > 0) made((node >> shift) + 1)
    }
    node
  }

  private def made(unit: Int): Unit = {
    if (unit >= madeBy.length)
      madeBy = Arrays.copyOf(madeBy, math.max(unit + 1, 2 * madeBy.length))
    madeBy(unit) = operation
  }

  /** Whether writes to this unit have to be noted. */
  private def isNoted(unit: Int): Boolean =
    noting && (unit >= madeBy.length || madeBy(unit) != operation)

  override def free(node: Int): Unit = if (noting) freed.add(node) else super.free(node)

  private def noteSlot(slot: Int): Unit =
    if (isNoted(slot >> shift)) {
      val place = oldSlots.length & (maxArity - 1)
      if (place == 0) copies.add(super.allocate(0))
      val copy = copies.last + place
      column.copy(copy, slot)
      oldSlots.add(slot, copy.toLong)
    }

  private def noteSlots(first: Int, count: Int): Unit = {
    var slot = first
    while (slot < first + count) {
      noteSlot(slot)
      slot += 1
    }
  }

  private def noteWord(place: Int): Unit =
    if (isNoted(place >> shift)) oldWords.add(place, words(place))

  override protected[this] def setWord(place: Int, word: Long): Unit = {
    noteWord(place)
    super.setWord(place, word)
  }

  override protected[this] def moveWords(dst: Int, src: Int, count: Int): Unit = {
    var place = dst
    while (place < dst + count) {
      noteWord(place)
      place += 1
    }
    super.moveWords(dst, src, count)
  }
}
