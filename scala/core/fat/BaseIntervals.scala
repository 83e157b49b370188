package io.sash.core.fat

import io.sash.core.elements.{Elements, QueueWindow, SlotRing, Stretches, Suffixes}
import io.sash.core.slots.Partials

/**
 * B-Int, base intervals: dyadic intervals over the stream, of one element, of two, of four, ….
 * Each length is a level, and each level is a ring. One structure answers for every range of
 * elements, from the fewest intervals that make up the range.
 *
 * The rings share one column: number k of level l lies in slot (2k+1)·2^l mod 2n. So elements
 * have the odd slots, pairs have every other even slot, and so on. Slot 0 is left for answers.
 *
 * Invariants, for positions F <= B <= E of the stream (front, back, end of the open elements):
 *  - (I1) E - F <= n, a power of two, so that no two intervals within [F, E) share a slot
 *  - (I2) every interval within [F, B) holds the aggregate of its elements
 *
 * Cost in combines: open and evict none; insert at most log n and amortised under 1; a query at
 * most 2 log n for each range in it. Space: 2n slots for n places, doubled when all are taken.
 *
 * Papers: Arasu, Widom, ''Resource sharing in continuous sliding window aggregates'' (2004), as
 * ''SlickDeque'' describes it in section 2.2.
 */
final class BaseIntervals(initial: Partials)
    extends QueueWindow
    with Elements
    with Suffixes
    with Stretches
    with DyadicIntervals {
  private[this] final val answerSlot = 0
  private[this] var capacity = SlotRing.InitialCapacity
  private[this] var partials = initial.claimed(Partials.Slots).grow(2 * capacity)

  private[this] var appended = DyadicIntervals.Nothing

  override def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  override def open(): Int = {
    if (end - front == capacity) doubleCapacity()
    val opened = slotOf(0, end)
    end += 1
    opened
  }

  override def insert(): Unit = {
    requireOpen(end - back)
    complete(front, back, back + 1)
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    front += 1
  }

  override def query(): Int = query(size)

  override def query(last: Int): Int = {
    requireSuffix(last)
    if (last == 0) {
      partials.identity(answerSlot)
      answerSlot
    } else {
      cover(answerSlot, back - last, back)
    }
  }

  override def begin(): Unit = appended = DyadicIntervals.Nothing

  override def append(from: Int, until: Int): Unit = {
    requireStretch(from, until)
    if (from < until) appended = cover(answerSlot, appended, front + from, front + until)
  }

  override def answer(): Int =
    if (appended == DyadicIntervals.Nothing) {
      partials.identity(answerSlot)
      answerSlot
    } else {
      appended
    }

  override protected[this] def slot(position: Long): Int = slotOf(0, position)

  override private[sash] def slotOf(level: Int, number: Long): Int =
    (((2 * number + 1) << level) & (2L * capacity - 1)).toInt

  private def doubleCapacity(): Unit = {
    if (capacity >= BaseIntervals.MaxCapacity) {
      throw new IllegalStateException(
        s"a window holds at most ${BaseIntervals.MaxCapacity} partial aggregates"
      )
    }
    partials = partials.grow(4 * capacity)
    spread(0, back, end)
    var level = 0
    var first = front
    var until = back
    while (first < until) {
      spread(level, first, until)
      level += 1
      first = (first + 1) >> 1
      until >>= 1
    }
    capacity *= 2
  }

  /** Copies each interval whose slot gains a bit in twice the capacity to that new slot. */
  private def spread(level: Int, first: Long, until: Long): Unit = {
    val distance = 2 * capacity
    var number = first
    while (number < until) {
      if ((((2 * number + 1) << level) & distance) != 0) {
        val from = slotOf(level, number)
        partials.copy(from + distance, from)
      }
      number += 1
    }
  }

  private[core] def checkInvariants(isCombined: (Int, Int, Int) => Boolean): Unit = {
    assert(front <= back && back <= end && end - front <= capacity, "(I1)")
    assert(allCombined(front, back, isCombined), "(I2)")
  }
}

object BaseIntervals {

  /** The most elements whose intervals all have slot numbers. */
  val MaxCapacity: Int = SlotRing.MaxCapacity / 2
}
