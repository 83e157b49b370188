package io.sash.papers.inorder

import io.sash.core.elements.Elements
import io.sash.core.slots.Partials
import io.sash.papers.algebra.OfAggregationInChunks

/**
 * DABA, the De-Amortized Banker's Aggregator: Two-Stacks that flips early, when front and back
 * have the same length, and spreads the reversal over the next calls. An element carries its
 * value and an aggregate.
 *
 * Invariants, for window contents v0 … vn-1 at positions F … E-1 and pointers
 * F <= L <= R <= A <= B <= E. List lX runs from pointer X to the next; only lF runs from F to B.
 *  - (I1) the first slot of position F+i holds vi
 *  - (I2) the second slot of position F+i holds an aggregate, by the place of F+i:
 *    - below L, vi ⊗ … ⊗ v(B-F-1)
 *    - from L below R, vi ⊗ … ⊗ v(R-F-1)
 *    - from R below A, v(R-F) ⊗ … ⊗ vi
 *    - from A below B, vi ⊗ … ⊗ v(B-F-1)
 *    - from B on, v(B-F) ⊗ … ⊗ vi
 *  - (I3) the window is empty, or |lL| + |lR| + |lA| + 1 = |lF| - |lB| and |lL| = |lR|
 *
 * Cost in combines, in the worst case: query 1, insert 4, evict 3; on average 2.5 and 1.5. Space:
 * 2n partials, and one each for the answer and the identity.
 *
 * Room: as for [[DabaLite]], but in chunks a call allocates at most two.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 5.
 */
final class Daba(initial: Partials)
    extends BankersReversal(initial, reserved = 1, paired = true)
    with Elements {
  private[this] final val answer = 0

  override def insert(): Unit = {
    requireOpen(end - back)
    combine(agg(back), if (b == back) unit else agg(back - 1), slot(back))
    back += 1
    try step()
    catch {
      case e: Throwable =>
        back -= 1
        throw e
    }
  }

  override def query(): Int =
    if (front == b) { // then the window is empty (I3)
      partials.identity(answer)
      answer
    } else if (b == back) {
      agg(front)
    } else {
      combine(answer, agg(front), agg(back - 1))
      answer
    }

  override protected[this] def shrink(flips: Boolean): Unit =
    if (flips) {
      combine(agg(front), agg(front), agg(back - 1))
      // from here on no call may throw
      if (partials.total) combine(agg(back - 1), unit, slot(back - 1))
      else partials.copy(agg(back - 1), slot(back - 1))
    } else {
      if (r - l == a - r) {
        combine(answer, agg(l), agg(a - 1))
        combine(agg(l), answer, agg(a))
        l += 1
      }
      combine(agg(a - 1), slot(a - 1), agg(a))
    }

  private def agg(position: Long): Int = slot(position) + length
}

object Daba extends OfAggregationInChunks(new Daba(_))
