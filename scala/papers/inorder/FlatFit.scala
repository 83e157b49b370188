package io.sash.papers.inorder

import io.sash.core.elements.{SlotRing, Suffixes}
import io.sash.core.slots.Partials
import io.sash.papers.algebra.OfAggregation

/**
 * FlatFIT, the Flat and Fast Index Traverser. Each element holds the aggregate of itself and some
 * elements after it, and a pointer to the first element not in that aggregate. A query follows
 * the pointers from the front to the back. On its way home it makes all of them point to the
 * back.
 *
 * Invariants, for window contents v0 … vn-1 at positions F … E-1:
 *  - (I1) position p in the window points to a position q with p < q <= E
 *  - (I2) its slot holds the aggregate of the elements from p to before q
 *
 * Cost in combines: insert and evict none, query at most n - 1; amortised under 3 a slide. Space:
 * n partials, one for the answer, and 2n positions. Positions keep their low 32 bits, which tell
 * positions in the window apart.
 *
 * Papers: Shein, Chrysanthis, Labrinidis, ''FlatFIT'' (2017), as ''SlickDeque'' describes it in
 * sections 2.2 and 4.1. Section 7 of ''In-Order Sliding-Window Aggregation in Worst-Case Constant
 * Time'' opens it to windows that grow and shrink.
 */
final class FlatFit(initial: Partials) extends SlotRing(initial, reserved = 1) with Suffixes {
  private[this] final val answer = 0
  private[this] var pointers = new Array[Int](length)
  private[this] var positions = new Array[Int](length) // a stack of the passed positions

  override def insert(): Unit = {
    requireOpen(end - back)
    pointers(index(back)) = (back + 1).toInt
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    front += 1
  }

  override def query(): Int = from(front)

  override def query(last: Int): Int = {
    requireSuffix(last)
    from(back - last)
  }

  private def from(first: Long): Int =
    if (first == back) {
      partials.identity(answer)
      answer
    } else {
      traverse(first.toInt, back.toInt)
      slot(first)
    }

  /** Makes `first`, and each position on the way, hold its aggregate and point to the back. */
  private def traverse(first: Int, back: Int): Unit = {
    var depth = 0
    var p = first
    var next = pointers(index(p))
    while (next != back) {
      positions(depth) = p
      depth += 1
      p = next
      next = pointers(index(p))
    }
    while (depth > 0) {
      depth -= 1
      val older = positions(depth)
      partials.combine(slot(older), slot(older), slot(p))
      pointers(index(older)) = back
      p = older
    }
  }

  override protected[this] def doubling(): Unit = {
    val moved = new Array[Int](2 * length)
    var p = front
    while (p < back) {
      moved((p & (moved.length - 1)).toInt) = pointers(index(p))
      p += 1
    }
    positions = new Array[Int](2 * length)
    pointers = moved
  }
}

object FlatFit extends OfAggregation(new FlatFit(_))
