package io.sash.core.mta

import java.lang.Integer.numberOfTrailingZeros

import io.sash.core.algebra.OfAggregation
import io.sash.core.elements.SlotRing
import io.sash.core.slots.Partials

/**
 * Amortized MTA (AMTA) in memory: constant amortised time to insert and evict, logarithmic time
 * at worst and for bulk evictions. Invariants and cost: see [[AmortizedMta]].
 *
 * Space: 2n partials, rounded up by doubling, and 2 log2 n + 7 for the stack, the results and the
 * search.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', sections 4.2 and 5.1 (Mem. AMTA).
 */
final class Amta(initial: Partials) extends AmortizedMta(initial, Amta.StackTop) {
  private[this] var queues = LevelQueues(AmortizedMta.slotsEnd(Amta.StackTop), slack = 0)

  partials = partials.grow(queues.slotsEnd)

  override def open(): Int = {
    if (end - front == queues.elements) doubleCapacity()
    val opened = queues.slot(0, end)
    end += 1
    opened
  }

  override private[mta] def node(level: Int, number: Long): Int = queues.slot(level, number)

  override protected def newNode(level: Int, number: Long): Int = queues.slot(level, number)

  private def doubleCapacity(): Unit = {
    val bigger = queues.doubled(queues.first + 2)
    partials = partials.grow(bigger.slotsEnd)
    queues.move(partials, 0, front, end, bigger)
    var level = 1
    while (firstNode(level) < nodesEnd(level)) {
      queues.move(partials, level, firstNode(level), nodesEnd(level), bigger)
      level += 1
    }
    lengthenStack(queues.first)
    queues = bigger
  }
}

object Amta extends OfAggregation(new Amta(_)) {
  private val StackTop = numberOfTrailingZeros(SlotRing.InitialCapacity)
}
