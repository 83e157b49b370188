package io.sash.core.mta

import io.sash.core.elements.SlotRing
import io.sash.core.slots.Partials

/**
 * The slots of the level queues of a window in memory. Level l is a ring of capacity / 2^l^
 * slots, and the rings lie as the levels of a binary heap do: the leaves at the heap's numbers
 * [capacity, 2 capacity), the level above at [capacity / 2, capacity), and so on. Numbers 0 and 1
 * stay unused: no algorithm of this package goes up to a ring of one slot.
 *
 * @param first the slot of number 0
 * @param elements how many may wait at level 0, a power of two
 * @param slack doublings of the capacity over that, for nodes that reach beyond the window
 */
private[mta] final class LevelQueues(val first: Int, val elements: Int, slack: Int) {
  private[this] val capacity = elements << slack

  def slot(level: Int, node: Long): Int = {
    val ring = capacity >> level
    first + (ring | (node.toInt & (ring - 1)))
  }

  /** The slot after the last one. */
  def slotsEnd: Int = first + 2 * capacity

  /** Queues of twice as many elements, with number 0 at `newFirst`, at most two slots after `first`. */
  def doubled(newFirst: Int): LevelQueues = {
    if (2 * capacity > LevelQueues.MaxCapacity) {
      throw new IllegalStateException(
        s"a window holds at most ${LevelQueues.MaxCapacity >> slack} elements"
      )
    }
    new LevelQueues(newFirst, 2 * elements, slack)
  }

  /**
   * Moves nodes of one level to `doubled` queues. Each ring goes to where the one below it was,
   * so moving the levels from the lowest up overwrites nothing.
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

  /** Twice as many are the most slots that a number can name. */
  val MaxCapacity: Int = SlotRing.MaxCapacity / 2

  def apply(first: Int, slack: Int): LevelQueues =
    new LevelQueues(first, SlotRing.InitialCapacity, slack)
}
