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
) extends SlotRing(initial, reserved + 1, paired, BankersReversal.chunkSize(initial)) {

  /**
   * The slot of the identity. A combine with it stands for a copy in calls that are rare over a
   * long window: see `step`.
   */
  protected[this] final val unit = reserved

  /** Null if the column has no chunks. */
  private[this] var chunks = BankersReversal.chunksOf(initial)
  if (chunks == null) partials.identity(unit)
  protected[this] var l = 0L
  protected[this] var r = 0L
  protected[this] var a = 0L
  protected[this] var b = 0L

  override final def open(): Int = {
    if (chunks != null) {
      val slot = this.slot(end)
      chunks.openChunk(slot)
      if (paired) chunks.openChunk(slot + length)
      if (end == 0) partials.identity(unit) // in the first chunk
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
   * costs nothing as long as no step throws.
   *
   * Over a long window a flip is rare. The JIT compiler leaves a rare method as a call, after
   * which no pointer is known to be in a register, and each slide takes half as long again. So
   * singletons and flips are no methods of their own, and over a `total` column a flip calls
   * `combine` alone, which usual steps call, too.
   */
  protected[this] final def step(): Unit = {
    val flips = a == r
    if (flips && l != b) { // shift
      a += 1
      r += 1
      l += 1
    } else if (flips && front == b) { // singleton
      b = back
      a = back
      r = back
      l = back
    } else {
      shrink(flips)
      if (flips) { // lF and lB become lL and lR, which have shrunk in the same call
        l = front + 1
        a = back
        b = back
      }
      a -= 1
    }
  }

  /**
   * Makes the element at L hold its aggregate in lF and moves L, unless an earlier call has done
   * so. Then makes the element before A hold its aggregate in lA, which is not empty.
   *
   * If the step flips, the first element of lF gets its aggregate with lB, the last element of lB
   * holds itself alone, and no pointer moves.
   *
   * @param flips whether lF and lB become lL and lR
   */
  protected[this] def shrink(flips: Boolean): Unit

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
