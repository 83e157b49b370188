package io.sash.core.inorder

import io.sash.core.elements.{SlotRing, Stretches, Suffixes}
import io.sash.core.slots.{Invertible, Partials}

/**
 * Prefix aggregates: an element's slot holds the aggregate of all elements up to it. Every range
 * of the window is then a prefix minus a shorter prefix. The inverse must be exact for prefixes
 * of any length, so floating point is excluded.
 *
 * Invariants, for the window F … B-1:
 *  - (I1) `before` holds the aggregate P of the elements that have left
 *  - (I2) the slot of position p with F <= p < B holds P ⊗ the elements F … p
 *
 * Cost: one combine an insert, one copy an evict, one subtract a query of any range. An answer
 * for several ranges takes one subtract and one combine for each. Space: n + 3.
 *
 * It is SlickDeque (Inv) (''SlickDeque'', section 3.2) for ranges that are not known beforehand:
 * it subtracts expired elements when a range is queried.
 */
final class PrefixAggregates(initial: Partials with Invertible)
    extends SlotRing(initial, reserved = 3)
    with Suffixes
    with Stretches {
  private[this] final val answered = 0
  private[this] final val stretch = 1
  private[this] final val before = 2
  private[this] var isEmpty = true // whether nothing has been appended

  partials.identity(before)

  override def insert(): Unit = {
    requireOpen(end - back)
    combine(slot(back), prefix(back), slot(back))
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    partials.copy(before, slot(front))
    front += 1
  }

  override def query(): Int = query(size)

  override def query(last: Int): Int = {
    requireSuffix(last)
    subtract(answered, back - last, back)
    answered
  }

  override def begin(): Unit = isEmpty = true

  override def append(from: Int, until: Int): Unit = {
    requireStretch(from, until)
    if (from < until) {
      val into = if (isEmpty) answered else stretch
      subtract(into, front + from, front + until)
      if (!isEmpty) combine(answered, answered, stretch)
      isEmpty = false
    }
  }

  override def answer(): Int = {
    if (isEmpty) partials.identity(answered)
    answered
  }

  override def clear(): Unit = {
    super.clear()
    partials.identity(before)
  }

  /** The slot that holds the aggregate of all elements before a position. */
  private def prefix(position: Long): Int = if (position == front) before else slot(position - 1)

  /** `dst <-` the aggregate of the positions [from, until). */
  private def subtract(dst: Int, from: Long, until: Long): Unit =
    if (from == until) partials.identity(dst)
    else invertible.subtract(dst, prefix(until), prefix(from))
}
