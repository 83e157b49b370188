package io.sash.core.inorder

import java.util.Arrays

import io.sash.core.elements.{InOrderWindow, SlotRing, Suffixes}
import io.sash.core.slots.{Partials, Selective}

/**
 * SlickDeque (Non-Inv): a deque of the elements that may still become the answer, each with its
 * position in the stream. A new element removes elements from the tail as long as combine, given
 * such an element and the new one, returns the new one. The head is the answer.
 *
 * Invariants, for the deque d0 … dk-1:
 *  - (I1) positions ascend, and all lie in the window
 *  - (I2) di ⊗ di+1 = di for every i: no element is made useless by a younger one
 *  - (I3) d0 is the aggregate of the window
 *
 * Cost: amortised under 2 comparisons a slide; query none. A look is the reading of an element's
 * position. Queries of several ranges, the longest first, share one walk of the deque: it takes
 * at most as many looks as the deque is long, and four a range. A walk past m elements of the
 * deque takes at most 2 log m + 3 looks, so the ranges may come in any order. Space: 1 to n
 * partials (open elements apart).
 *
 * Paper: ''SlickDeque'', section 3.2, algorithm 2.
 */
class SlickDequeNonInv(initial: Partials with Selective) extends InOrderWindow with Suffixes {
  private[this] final val identitySlot = 0
  private[this] var capacity = SlotRing.InitialCapacity
  private[this] var partials: Partials = initial.claimed(Partials.Slots).grow(1 + capacity)

  // The deque, as a ring of `length` entries from `head` on: the slot and the position of each.
  // `pending` is a ring of the open elements' slots.
  private[this] var slots = new Array[Int](capacity)
  private[this] var positions = new Array[Long](capacity)
  private[this] var head = 0
  private[this] var length = 0

  private[this] var pending = new Array[Int](capacity)
  private[this] var pendingHead = 0
  private[this] var pendingLength = 0

  // The slots that no element has: `free` holds the released ones, and all from `unused` on.
  private[this] var free = new Array[Int](capacity)
  private[this] var freeLength = 0
  private[this] var unused = identitySlot + 1

  private[this] var first = 0L // position of the oldest element of the window
  private[this] var next = 0L // position of the next element to insert
  private[this] var walked = 0 // how many entries of the deque the last query passed

  override def size: Int = (next - first).toInt

  override def open(): Int = {
    val opened = take()
    pending(wrap(pendingHead + pendingLength)) = opened
    pendingLength += 1
    opened
  }

  override def insert(): Unit = {
    requireOpen(pendingLength.toLong)
    val value = pending(pendingHead)
    val kept = useful(value)
    walked = 0
    pendingHead = wrap(pendingHead + 1)
    pendingLength -= 1
    releaseFrom(kept)
    val tail = wrap(head + length)
    slots(tail) = value
    positions(tail) = next
    length += 1
    next += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    walked = 0
    if (positions(head) == first) {
      release(slots(head))
      head = wrap(head + 1)
      length -= 1
    }
    first += 1
  }

  override def query(): Int =
    if (length == 0) {
      partials.identity(identitySlot)
      identitySlot
    } else {
      slots(head)
    }

  override def query(last: Int): Int = {
    requireSuffix(last)
    val oldest = next - last
    if (last == 0) {
      partials.identity(identitySlot)
      identitySlot
    } else {
      // go on from the last answer, or from the head if this range is longer
      if (walked > 0 && positionAt(walked - 1) >= oldest) walked = 0
      if (positionAt(walked) < oldest) walk(oldest)
      slots(wrap(head + walked))
    }
  }

  /**
   * Goes to the first entry whose position is at least `oldest`, in doubling steps, then by
   * halves.
   */
  private def walk(oldest: Long): Unit = {
    var step = 1
    while (walked + step < length && positionAt(walked + step) < oldest) {
      walked += step
      step <<= 1
    }
    var younger = math.min(walked + step, length - 1)
    walked += 1
    while (walked < younger) {
      val middle = (walked + younger) >>> 1
      if (positionAt(middle) < oldest) walked = middle + 1 else younger = middle
    }
  }

  override protected def openCount: Long = pendingLength.toLong

  override protected def openSlot(i: Long): Int = pending(wrap(pendingHead + i.toInt))

  override protected def dropYoungestOpen(): Unit = {
    release(openSlot(pendingLength - 1L))
    pendingLength -= 1
  }

  override def clear(): Unit = {
    walked = 0
    length = 0
    pendingLength = 0
    freeLength = 0
    unused = identitySlot + 1
    first = 0L
    next = 0L
  }

  override def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  /**
   * How many entries of the deque a new value leaves (I2). The others, at the tail, are useless.
   */
  private def useful(value: Int): Int = {
    val column = partials.asInstanceOf[Selective]
    var kept = length
    while (kept > 0 && column.selectsRight(slots(wrap(head + kept - 1)), value)) kept -= 1
    kept
  }

  private def releaseFrom(kept: Int): Unit =
    while (length > kept) {
      length -= 1
      release(slots(wrap(head + length)))
    }

  /**
   * The position of the i-th entry. A method of its own, so that a test can count a walk's looks.
   */
  private[inorder] def positionAt(i: Int): Long = positions(wrap(head + i))

  private def wrap(index: Int): Int = index & (capacity - 1)

  private def take(): Int =
    if (freeLength > 0) {
      freeLength -= 1
      free(freeLength)
    } else {
      if (unused > capacity) doubleCapacity()
      unused += 1
      unused - 1
    }

  private def release(slot: Int): Unit = {
    free(freeLength) = slot
    freeLength += 1
  }

  private def doubleCapacity(): Unit = {
    if (capacity >= SlotRing.MaxCapacity) {
      throw new IllegalStateException(
        s"a window holds at most ${SlotRing.MaxCapacity} partial aggregates"
      )
    }
    partials = partials.grow(1 + 2 * capacity)
    free = Arrays.copyOf(free, 2 * capacity)
    val longerSlots = unrolled(slots, head)
    val longerPending = unrolled(pending, pendingHead)
    positions = unrolledLongs(positions, head)
    slots = longerSlots
    pending = longerPending
    head = 0
    pendingHead = 0
    capacity *= 2
  }

  private def unrolled(ring: Array[Int], from: Int): Array[Int] = {
    val straight = new Array[Int](2 * capacity)
    System.arraycopy(ring, from, straight, 0, capacity - from)
    System.arraycopy(ring, 0, straight, capacity - from, from)
    straight
  }

  private def unrolledLongs(ring: Array[Long], from: Int): Array[Long] = {
    val straight = new Array[Long](2 * capacity)
    System.arraycopy(ring, from, straight, 0, capacity - from)
    System.arraycopy(ring, 0, straight, capacity - from, from)
    straight
  }
}
