package io.sash.core.inorder

import io.sash.core.elements.SlotRing
import io.sash.core.slots.Partials

/**
 * The aggregate of a window that only grows: elements enter, and none leaves. It is the back of
 * Two-Stacks Lite without a front, so it keeps no element.
 *
 * Cost: one combine an insertion, none a query. Space: one partial, and the slots that are open.
 *
 * @param fromIdentity whether the first element is combined with the identity, and not copied.
 *   Partials that keep the aggregate beside their slots need it: `copy` cannot reach it there
 *
 * Paper: `aggB` of ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section
 * 4, on its own.
 */
final class GrowingWindow(initial: Partials, fromIdentity: Boolean)
    extends SlotRing(initial, reserved = 1) {
  def this(initial: Partials) = this(initial, fromIdentity = false)

  private[this] final val answer = 0
  private[this] var isEmpty = true

  override def insert(): Unit = {
    requireOpen(end - back)
    val value = slot(back)
    if (isEmpty && fromIdentity) partials.identity(answer)
    if (isEmpty && !fromIdentity) partials.copy(answer, value) // 1 ⊗ v without a combine
    else combine(answer, answer, value)
    isEmpty = false
    back += 1
    front = back // the element's slot is free again
  }

  /** The number of elements that have entered, though their slots are free again. */
  override def size: Int = math.min(back, Int.MaxValue.toLong).toInt

  /** Fails: an element that has entered stays. */
  override def evict(): Unit =
    throw new UnsupportedOperationException("evict() on a window that only grows")

  override def query(): Int = {
    if (isEmpty) partials.identity(answer)
    answer
  }

  override def clear(): Unit = {
    super.clear()
    isEmpty = true
  }
}
