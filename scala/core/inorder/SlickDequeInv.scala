package io.sash.core.inorder

import io.sash.core.algebra.OfInvertible
import io.sash.core.elements.SlotRing
import io.sash.core.slots.{Invertible, Partials}

/**
 * SlickDeque (Inv): one running answer; an arriving partial is added to it, an expiring one is
 * subtracted from it. Only for an inverse that is exact, never for floating point.
 *
 * Invariants:
 *  - (I1) positions F … B-1 hold the lifted values of the window
 *  - (I2) `answer` holds their aggregate
 *
 * Cost: exactly one combine an insert, one subtract an evict, nothing a query. Space: n + 1.
 *
 * Paper: Shein, Chrysanthis, Labrinidis, ''SlickDeque'', section 3.2, algorithm 1.
 */
final class SlickDequeInv(initial: Partials with Invertible)
    extends SlotRing(initial, reserved = 1) {
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

  /** `grow` keeps what a column can do, so the cast holds for every column after the first. */
  private def invertible: Invertible = partials.asInstanceOf[Invertible]
}

object SlickDequeInv extends OfInvertible(new SlickDequeInv(_))
