package io.sash.core.inorder

import io.sash.core.algebra.OfInvertible
import io.sash.core.elements.{SlotRing, Stretches, Suffixes}
import io.sash.core.slots.{Invertible, Partials}

/**
 * Prefix aggregates: an element's slot holds the aggregate of all elements up to it, so that every
 * range of the window is one prefix without another. Only for an inverse that is exact however
 * many elements a prefix has, never for floating point.
 *
 * Invariants, for the window F … B-1:
 *  - (I1) `before` holds the aggregate P of the elements that have left
 *  - (I2) the slot of position p with F <= p < B holds P ⊗ the elements F … p
 *
 * Cost: exactly one combine an insert, a copy an evict, one subtract a query of any range, and for
 * several stretches one subtract and one combine each. Space: n + 3.
 *
 * It is SlickDeque (Inv) (''SlickDeque'', section 3.2) where the ranges are not known beforehand: the
 * subtraction of what has expired is made when a range is asked for.
 */
final class PrefixAggregates(initial: Partials with Invertible)
    extends SlotRing(initial, reserved = 3)
    with Suffixes
    with Stretches {
  private[this] final val answered = 0
  private[this] final val stretch = 1
  private[this] final val before = 2
  private[this] var isEmpty = true // what has been appended

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

  /** `grow` keeps what a column can do, so the cast holds for every column after the first. */
  private def invertible: Invertible = partials.asInstanceOf[Invertible]
}

object PrefixAggregates extends OfInvertible(new PrefixAggregates(_))
