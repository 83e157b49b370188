package io.sash.core

/**
 * DABA Lite: DABA in half the space. One slot of an element serves as value or as aggregate,
 * and two running aggregates replace the rest.
 *
 * Invariants, for window contents v0 … vn-1 at positions F … E-1 and the pointers
 * F <= L <= R <= A <= B <= E, where list p runs from its pointer to the next, and lF from F to B:
 *  - (I1) position F+i holds, below L, vi ⊗ … ⊗ v(B-F-1); from L below R, vi ⊗ … ⊗ v(R-F-1);
 *    from R below A, vi; from A below B, vi ⊗ … ⊗ v(B-F-1); from B on, vi
 *  - (I2) L = R, or `aggRA` holds v(R-F) ⊗ … ⊗ v(B-F-1)
 *  - (I3) B = E, or `aggB` holds v(B-F) ⊗ … ⊗ v(E-F-1)
 *  - (I4) the window is empty, or |lL| + |lR| + |lA| + 1 = |lF| - |lB| and |lL| = |lR|
 *
 * Cost in combines, in the worst case: query 1, insert 3, evict 2; on average 2 and 1.
 * Space: n + 2 partials, and one for the answer.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 6.
 */
final class DabaLite(initial: Partials) extends SlotRing(initial, reserved = 3) {
  private[this] val aggRA = 0
  private[this] val aggB = 1
  private[this] val answer = 2
  private[this] var l = 0L
  private[this] var r = 0L
  private[this] var a = 0L
  private[this] var b = 0L
  private[this] var back = 0L

  override def size: Int = (back - front).toInt

  override protected[this] def firstOpen: Long = back

  override def insert(): Unit = {
    requireOpen(end - back)
    if (b == back) partials.copy(aggB, slot(back)) else combine(aggB, aggB, slot(back))
    back += 1
    fixup()
  }

  override def evict(): Unit = {
    requireNonEmpty()
    front += 1
    fixup()
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

  override def clear(): Unit = {
    front = 0L
    l = 0L
    r = 0L
    a = 0L
    b = 0L
    back = 0L
    end = 0L
  }

  /** One step of the incremental reversal, which restores the invariants. */
  private def fixup(): Unit =
    if (front == b) { // singleton
      b = back
      a = back
      r = back
      l = back
    } else {
      if (l == b) { // flip: lF and lB become lL and lR
        l = front
        a = back
        b = back
        partials.copy(aggRA, aggB)
      }
      if (l == r) { // shift
        a += 1
        r += 1
        l += 1
      } else {
        shrink()
      }
    }

  private def shrink(): Unit = {
    combine(slot(l), slot(l), aggRA)
    if (a != b) combine(slot(a - 1), slot(a - 1), slot(a))
    l += 1
    a -= 1
  }

  private def combine(dst: Int, left: Int, right: Int): Unit = {
    partials.combine(dst, left, right)
    combined += 1
  }

  /** The pointers F, L, R, A, B and E, for the tests of the size invariants. */
  private[core] def pointers: Seq[Long] = Seq(front, l, r, a, b, back)
}

object DabaLite extends algebra.OfAggregation(new DabaLite(_))
