package io.sash.core.inorder

import io.sash.core.slots.{Partials, SlotRing}

/**
 * What DABA and DABA Lite share: the pointers F <= L <= R <= A <= B <= E into the queue, and how
 * a call moves them, so that the back list is reversed step by step before the front list is
 * used up. List p runs from its pointer to the next, and lF from F to B; F is `front`, E `back`.
 *
 * Invariant: the window is empty, or |lL| + |lR| + |lA| + 1 = |lF| - |lB| and |lL| = |lR|.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', sections 5 and 6.
 */
private[core] abstract class BankersReversal(
    initial: Partials,
    reserved: Int,
    paired: Boolean = false
) extends SlotRing(initial, reserved, paired) {
  protected[this] var l = 0L
  protected[this] var r = 0L
  protected[this] var a = 0L
  protected[this] var b = 0L

  override final def evict(): Unit = {
    requireNonEmpty()
    front += 1
    fixup()
  }

  override final def clear(): Unit = {
    super.clear()
    l = 0L
    r = 0L
    a = 0L
    b = 0L
  }

  /** One step of the incremental reversal, which restores the invariants. */
  protected[this] final def fixup(): Unit =
    if (l != r) {
      shrink()
      l += 1
      a -= 1
    } else if (l != b) { // shift
      a += 1
      r += 1
      l += 1
    } else {
      turn()
    }

  /** The step when lL, lR and lA are used up. */
  private def turn(): Unit =
    if (front == b) { // singleton
      b = back
      a = back
      r = back
      l = back
    } else { // flip: lF and lB become lL and lR
      l = front
      a = back
      b = back
      flipped()
      fixup()
    }

  /** The back list has become lR. */
  protected[this] def flipped(): Unit = ()

  /** Makes the element at L hold what lF prescribes, and the one before A what lA does. */
  protected[this] def shrink(): Unit

  /** The pointers F, L, R, A, B and E, for the tests of the size invariants. */
  private[core] final def pointers: Seq[Long] = Seq(front, l, r, a, b, back)
}
