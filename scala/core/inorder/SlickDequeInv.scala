package io.sash.core.inorder

import io.sash.core.elements.{Elements, SlotRing}
import io.sash.core.slots.{Invertible, Partials}

/**
 * SlickDeque (Inv): keeps one running answer. Each new partial is combined into it, and each
 * expired partial is subtracted. The inverse must be exact, so floating point is excluded.
 *
 * Invariants:
 *  - (I1) positions F … B-1 hold the lifted values of the window
 *  - (I2) `answer` holds their aggregate
 *
 * Cost: one combine an insert, one subtract an evict, nothing a query. Space: n + 1.
 *
 * Paper: Shein, Chrysanthis, Labrinidis, ''SlickDeque'', section 3.2, algorithm 1.
 */
final class SlickDequeInv(initial: Partials with Invertible)
    extends SlotRing(initial, reserved = 1)
    with Elements {
  private[this] final val answer = 0

  partials.identity(answer)

  override def insert(): Unit = {
    requireOpen(end - back)
    combine(answer, answer, slot(back))
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    invertible.subtract(answer, answer, slot(front))
    front += 1
  }

  override def query(): Int = answer

  override def clear(): Unit = {
    super.clear()
    partials.identity(answer)
  }
}
