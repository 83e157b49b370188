package io.sash.core.inorder

import io.sash.core.elements.{Elements, SlotRing, Stretches, Suffixes}
import io.sash.core.slots.Partials

/**
 * Recalculate, the oracle: keeps the lifted values and combines all of them for each query.
 *
 * Cost: n - 1 combines a query, none otherwise. Space: n partials, and one for the answer.
 *
 * @param fromIdentity whether a query starts with the identity and combines every value into it,
 *   which takes one combine more. A column needs it if it keeps the answer beside its slots
 *
 * Papers: the ''Naive'' of ''SlickDeque'' and of ''Constant-Time Sliding Window Framework'', and
 * ''Recalculate-from-scratch'' in section 8.1 of ''In-Order Sliding-Window Aggregation in
 * Worst-Case Constant Time''.
 */
final class Recalculate(initial: Partials, fromIdentity: Boolean)
    extends SlotRing(initial, reserved = 1)
    with Elements
    with Suffixes
    with Stretches {
  def this(initial: Partials) = this(initial, fromIdentity = false)

  private[this] final val answerSlot = 0
  private[this] var isEmpty = true

  override def insert(): Unit = {
    requireOpen(end - back)
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    front += 1
  }

  override def query(): Int = query(size)

  override def query(last: Int): Int = {
    requireSuffix(last)
    begin()
    append(size - last, size)
    answer()
  }

  override def begin(): Unit = {
    isEmpty = !fromIdentity
    if (fromIdentity) partials.identity(answerSlot)
  }

  override def append(from: Int, until: Int): Unit = {
    requireStretch(from, until)
    var position = front + from
    val last = front + until
    if (isEmpty && position < last) {
      partials.copy(answerSlot, slot(position))
      isEmpty = false
      position += 1
    }
    foldOnto(answerSlot, position, last)
  }

  override def answer(): Int = {
    if (isEmpty) partials.identity(answerSlot)
    answerSlot
  }
}
