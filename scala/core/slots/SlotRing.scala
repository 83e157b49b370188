package io.sash.core.slots

import io.sash.core.inorder.InOrderWindow

/**
 * The resizable double-ended queue under the algorithms: positions 0, 1, 2, … of the stream are
 * mapped onto the slots of a column that follow the first `reserved`, modulo a power of two.
 * Positions are never reused, so pointers into the queue compare as numbers.
 *
 * Invariants:
 *  - (R1) front <= back <= end, and end - front <= capacity: the window is [front, back), open
 *    elements are [back, end)
 *  - (R2) position p with front <= p < end lives in slot(p), and nowhere else
 *
 * @param reserved slots below the ring that belong to the algorithm (answers, running values)
 * @param paired   whether a position has a second slot, `length` slots behind its first
 */
private[core] abstract class SlotRing(initial: Partials, reserved: Int, paired: Boolean = false)
    extends InOrderWindow {
  private[this] val planes = if (paired) 2 else 1
  private[this] var capacity = SlotRing.InitialCapacity
  private[this] var mask = capacity - 1L

  protected[this] var partials: Partials = initial.grow(reserved + planes * capacity)

  /** Position of the oldest element. */
  protected[this] var front = 0L

  /** Position after the newest element, which is that of the oldest open one. */
  protected[this] var back = 0L

  /** Position after the newest open element. */
  protected[this] var end = 0L

  override final def size: Int = (back - front).toInt

  override def clear(): Unit = {
    front = 0L
    back = 0L
    end = 0L
  }

  /** The place of a position in an array that lies beside the column, of `length` places. */
  protected[this] final def index(position: Long): Int = (position & mask).toInt

  protected[this] final def length: Int = capacity

  protected[this] final def slot(position: Long): Int = reserved + index(position)

  /** Turns the elements of the window into the aggregates of its suffixes, where they stand. */
  protected[this] final def aggregateSuffixes(): Unit = {
    val first = slot(front)
    val last = slot(back - 1)
    if (first <= last) {
      partials.suffixes(first, last)
    } else { // the window wraps around
      val end = reserved + capacity - 1
      partials.suffixes(reserved, last)
      partials.combine(end, end, reserved)
      partials.suffixes(first, end)
    }
  }

  override final def open(): Int = {
    if (end - front == capacity) doubleCapacity()
    val opened = slot(end)
    end += 1
    opened
  }

  override protected final def openCount: Long = end - back

  override protected final def openSlot(i: Long): Int = slot(back + i)

  override protected final def dropYoungestOpen(): Unit = end -= 1

  /** Called when `length` has doubled; positions with the new bit have moved up by the old one. */
  protected[this] def doubled(): Unit = ()

  override final def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  /**
   * A position whose bit `capacity` is set moves up by that much; all others stay (R2). Second
   * slots, which the longer first plane overlaps, make room before that.
   */
  private def doubleCapacity(): Unit = {
    val most = SlotRing.MaxCapacity / planes
    if (capacity >= most) {
      throw new IllegalStateException(s"a window holds at most $most partial aggregates")
    }
    partials = partials.grow(reserved + planes * 2 * capacity)
    if (paired) {
      var p = front
      while (p < end) {
        val from = slot(p) + capacity
        partials.copy(from + capacity + (p & capacity).toInt, from)
        p += 1
      }
    }
    var p = front
    while (p < end) {
      if ((p & capacity) != 0) partials.copy(slot(p) + capacity, slot(p))
      p += 1
    }
    capacity *= 2
    mask = capacity - 1L
    doubled()
  }
}

private[core] object SlotRing {
  val InitialCapacity: Int = 16
  val MaxCapacity: Int = 1 << 30
}
