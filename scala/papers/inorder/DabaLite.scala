package io.sash.papers.inorder

import io.sash.core.slots.Partials
import io.sash.papers.algebra.OfAggregationInChunks

/**
 * DABA Lite: DABA in half the space. An element has one slot, for its value or for an aggregate,
 * and two running aggregates replace the second slots.
 *
 * Invariants, for window contents v0 … vn-1 at positions F … E-1 and pointers
 * F <= L <= R <= A <= B <= E. List lX runs from pointer X to the next; only lF runs from F to B.
 *  - (I1) the slot of position F+i holds, by the place of F+i:
 *    - below L, vi ⊗ … ⊗ v(B-F-1)
 *    - from L below R, vi ⊗ … ⊗ v(R-F-1)
 *    - from R below A, vi
 *    - from A below B, vi ⊗ … ⊗ v(B-F-1)
 *    - from B on, vi
 *  - (I2) L = R, or `aggRA` holds v(R-F) ⊗ … ⊗ v(B-F-1)
 *  - (I3) B = E, or `aggB` holds v(B-F) ⊗ … ⊗ v(E-F-1)
 *  - (I4) the window is empty, or |lL| + |lR| + |lA| + 1 = |lF| - |lB| and |lL| = |lR|
 *
 * Cost in combines, in the worst case: query 1, insert 3, evict 2; on average 2 and 1. Space:
 * n + 2 partials, and one each for the answer and the identity.
 *
 * Room: by default the slots double. That is amortised constant, but the call that doubles them
 * allocates and copies all of them. `inChunks`, or a [[io.sash.papers.slots.ChunkedPartials]] as
 * the column, makes each call constant, growth included: a call allocates at most one chunk and
 * copies nothing. It also gives memory back. But calls take several times as long on average.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 6.
 */
final class DabaLite(initial: Partials) extends BankersReversal(initial, reserved = 3) {
  private[this] final val aggRA = 0

  // The two slots change roles, so that a failed insertion leaves the aggregate of lB as it was.
  private[this] var aggB = 1
  private[this] var answer = 2

  override def insert(): Unit = {
    requireOpen(end - back)
    combine(answer, if (b == back) unit else aggB, slot(back))
    exchange()
    back += 1
    try step()
    catch {
      case e: Throwable =>
        back -= 1
        exchange()
        throw e
    }
  }

  private def exchange(): Unit = {
    val before = aggB
    aggB = answer
    answer = before
  }

  override def query(): Int =
    if (front == b) { // then the window is empty (I4)
      partials.identity(answer)
      answer
    } else if (b == back) {
      slot(front)
    } else {
      combine(answer, slot(front), aggB)
      answer
    }

  override protected[this] def shrink(flips: Boolean): Unit =
    if (flips) {
      combine(aggRA, unit, aggB)
      combine(slot(front), slot(front), aggRA)
    } else {
      if (r - l == a - r) {
        combine(slot(l), slot(l), aggRA)
        l += 1
      }
      combine(slot(a - 1), slot(a - 1), slot(a))
    }
}

object DabaLite extends OfAggregationInChunks(new DabaLite(_))
