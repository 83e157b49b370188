package io.sash.papers.inorder

import io.sash.core.elements.SlotRing
import io.sash.core.slots.Partials
import io.sash.papers.slots.Chunked

/**
 * The common part of DABA and DABA Lite: the pointers F <= L <= R <= A <= B <= E into the queue,
 * and their moves in each call. The moves reverse the back list step by step, before the front
 * list is used up. List lX runs from pointer X to the next pointer; only lF runs from F to B. F
 * is `front`, E is `back`.
 *
 * Invariant: the window is empty, or |lL| + |lR| + |lA| + 1 = |lF| - |lB| and |lL| = |lR|. A call
 * that fails in the middle of a step leaves |lL| = |lR| - 1. The next call then does the rest of
 * that step in place of its own. So each pointer moves as soon as its list holds its aggregates.
 *
 * Over chunked partials the window opens and closes chunks one by one as it moves on.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', sections 5 and 6.
 */
private[papers] abstract class BankersReversal(
    initial: Partials,
    reserved: Int,
    paired: Boolean = false
) extends SlotRing(initial, reserved, paired, BankersReversal.chunkSize(initial)) {

  /** Null if the column has no chunks. */
  private[this] var chunks = BankersReversal.chunksOf(initial)
  protected[this] var l = 0L
  protected[this] var r = 0L
  protected[this] var a = 0L
  protected[this] var b = 0L

  override final def open(): Int = {
    if (chunks != null) {
      val slot = this.slot(end)
      chunks.openChunk(slot)
      if (paired) chunks.openChunk(slot + length)
    }
    super.open()
  }

  override final def evict(): Unit = {
    requireNonEmpty()
    front += 1
    try step()
    catch {
      case e: Throwable =>
        front -= 1
        throw e
    }
    if (chunks != null) leave(slot(front - 1))
  }

  /**
   * Closes a chunk after its last slot has left, but never the first, with its reserved slots.
   */
  private def leave(slot: Int): Unit =
    if ((slot + 1) % chunks.chunkSize == 0) {
      if (slot >= chunks.chunkSize) chunks.closeChunk(slot)
      if (paired) chunks.closeChunk(slot + length)
    }

  override final def relocate(move: Partials => Partials): Unit = {
    super.relocate(move)
    if (chunks != null) chunks = BankersReversal.chunksOf(partials)
  }

  override final def clear(): Unit = {
    if (chunks != null) chunks.closeChunks()
    super.clear()
    l = 0L
    r = 0L
    a = 0L
    b = 0L
  }

  /**
   * One step of the incremental reversal, which restores the invariants after F or E has moved.
   * The caller moves F or E before the step, and moves it back if the step throws. Its handler
   * costs nothing as long as no step throws. To pass the new F and E to `turn` instead would take
   * registers from the usual step.
   */
  protected[this] final def step(): Unit =
    if (a != r) {
      shrink()
    } else if (l != b) { // shift
      a += 1
      r += 1
      l += 1
    } else {
      turn()
    }

  private def shrink(): Unit = {
    if (r - l == a - r) {
      shrinkLeft()
      l += 1
    }
    shrinkRight()
    a -= 1
  }

  /** The step when lL, lR and lA are used up. */
  private def turn(): Unit =
    if (front == b) { // singleton
      b = back
      a = back
      r = back
      l = back
    } else { // flip: lF and lB become lL and lR, which shrink in the same call
      flip()
      l = front + 1
      a = back - 1
      b = back
    }

  /**
   * Makes the element at L hold its aggregate in lF. In this call and in `shrinkRight` lA is not
   * empty, since the flip has put its first element there.
   */
  protected[this] def shrinkLeft(): Unit

  /** Makes the element before A hold its aggregate in lA. */
  protected[this] def shrinkRight(): Unit

  /**
   * Does both for a flip: for the first element of the front list and the last of the back list.
   */
  protected[this] def flip(): Unit

  /** The pointers F, L, R, A, B and E, for the tests of the size invariants. */
  private[papers] final def pointers: Seq[Long] = Seq(front, l, r, a, b, back)
}

private object BankersReversal {
  private def chunkSize(partials: Partials): Int = partials match {
    case chunked: Chunked => chunked.chunkSize
    case _                => 0
  }

  private def chunksOf(partials: Partials): Chunked = partials match {
    case chunked: Chunked => chunked
    case _                => null
  }
}
