package io.sash.papers.mta

import io.sash.core.elements.SlotRing
import io.sash.core.slots.Partials

/**
 * The slots of the level queues of a window in memory. Level l is a ring of capacity / 2^l^
 * slots. The rings lie like the levels of a binary heap: the leaves at the heap's numbers
 * [capacity, 2 capacity), the level above at [capacity / 2, capacity), and so on. Numbers 0 and 1
 * stay unused, since no algorithm of this package needs a ring of one slot.
 *
 * @param first the slot of number 0
 * @param elements the most elements at level 0, a power of two
 * @param slack how often the capacity is doubled beyond that, for nodes that reach out of the
 *   window
 */
private[mta] final class LevelQueues(val first: Int, val elements: Int, slack: Int) {
  private[this] val capacity = elements << slack

  def slot(level: Int, node: Long): Int = {
    val ring = capacity >> level
    first + (ring | (node.toInt & (ring - 1)))
  }

  /** The slot after the last slot. */
  def slotsEnd: Int = first + 2 * capacity

  /** Queues for twice as many elements. Their number 0 is at `newFirst`, at most `first` + 2. */
  def doubled(newFirst: Int): LevelQueues = {
    if (2 * capacity > LevelQueues.MaxCapacity) {
      throw new IllegalStateException(
        s"a window holds at most ${LevelQueues.MaxCapacity >> slack} elements"
      )
    }
    new LevelQueues(newFirst, 2 * elements, slack)
  }

  /**
   * Moves nodes of one level to `doubled` queues. Each ring goes to the old place of the ring
   * below it, so moving the levels from the lowest up overwrites nothing.
   */
  def move(column: Partials, level: Int, from: Long, until: Long, doubled: LevelQueues): Unit = {
    var node = from
    while (node < until) {
      column.copy(doubled.slot(level, node), slot(level, node))
      node += 1
    }
  }
}

private[mta] object LevelQueues {

  /**
   * The greatest capacity. The rings take twice as many slots, the most that can have numbers.
   */
  val MaxCapacity: Int = SlotRing.MaxCapacity / 2

  def apply(first: Int, slack: Int): LevelQueues =
    new LevelQueues(first, SlotRing.InitialCapacity, slack)
}
