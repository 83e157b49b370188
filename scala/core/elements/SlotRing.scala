package io.sash.core.elements

import io.sash.core.slots.{Invertible, Partials, Slots}

/**
 * The resizable double-ended queue under the algorithms. It maps the positions 0, 1, 2, … of the
 * stream, modulo a power of two, onto the slots of a column behind the first `reserved` slots.
 * Positions are never reused, so pointers into the queue compare as numbers.
 *
 * Invariants:
 *  - (R1) front <= back <= end, and end - front <= capacity: the window is [front, back), open
 *    elements are [back, end)
 *  - (R2) position p with front <= p < end lives in slot(p), and nowhere else
 *
 * @param reserved slots below the ring that belong to the algorithm (answers, running values)
 * @param paired whether a position has a second slot, `length` slots behind its first
 * @param chunk slots in a chunk, if the subclass opens and closes the chunks of a `Chunked`
 *   column; the ring then has its greatest length from the start. Else 0
 */
private[sash] abstract class SlotRing(
    initial: Partials,
    reserved: Int,
    paired: Boolean = false,
    chunk: Int = 0
) extends QueueWindow {
  private[this] val planes = if (paired) 2 else 1
  private[this] val longest = SlotRing.MaxCapacity / planes
  private[this] var capacity = if (chunk > 0) longest else SlotRing.InitialCapacity
  private[this] var mask = capacity - 1L

  /**
   * The most positions in use. With chunks it is one chunk less than the ring, so that the chunk
   * closed behind the window is never the chunk at its end.
   */
  private[this] var most = if (chunk > 0) capacity - chunk else capacity

  protected[this] var partials: Partials =
    initial.claimed(Partials.Slots).grow(reserved + (if (chunk > 0) 0 else planes * capacity))

  /**
   * The column of an algorithm that was made over an invertible one. The cast holds after `grow`,
   * too, which returns a column of the same abilities.
   */
  protected[this] final def invertible: Invertible = partials.asInstanceOf[Invertible]

  /** The index for a position in an array of `length` entries that lies beside the column. */
  protected[this] final def index(position: Long): Int = (position & mask).toInt

  protected[this] final def length: Int = capacity

  override protected[this] final def slot(position: Long): Int = reserved + index(position)

  /** Replaces each element of the window by the aggregate from that element to the newest. */
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

  /** `dst <- dst ⊗` the elements of the window from position `from` on. */
  protected[this] final def foldOnto(dst: Int, from: Long): Unit = foldOnto(dst, from, back)

  /** `dst <- dst ⊗` the elements at the positions [from, until), in order. */
  protected[this] final def foldOnto(dst: Int, from: Long, until: Long): Unit = {
    val first = slot(from)
    val last = slot(until - 1)
    if (first <= last) {
      if (from < until) partials.foldRange(dst, first, last)
    } else if (from < until) { // the elements wrap around
      partials.foldRange(dst, first, reserved + capacity - 1)
      partials.foldRange(dst, reserved, last)
    }
  }

  override def open(): Int = {
    if (end - front == most) doubleCapacity()
    openNext()
  }

  override final def slide(): Int =
    if (chunk > 0) super.slide()
    else {
      evict()
      openNext()
    }

  private def openNext(): Int = {
    val opened = slot(end)
    end += 1
    opened
  }

  /**
   * Called before `length` doubles. Positions with the bit `length` then move up by `length`, in
   * the subclass's own arrays, too. If this call throws, it changes nothing.
   */
  protected[this] def doubling(): Unit = ()

  override final def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  /**
   * Doubles the ring. The second slots move first, so that the first ones have room to spread.
   */
  private def doubleCapacity(): Unit = {
    if (capacity >= longest) {
      throw new IllegalStateException(s"a window holds at most $most partial aggregates")
    }
    partials = partials.grow(reserved + planes * 2 * capacity)
    doubling()
    if (paired) {
      val (from, to) = (reserved + capacity, reserved + 2 * capacity)
      partials.move(to, from, capacity)
      SlotRing.spread(partials, to, capacity, end)
    }
    SlotRing.spread(partials, reserved, capacity, end)
    capacity *= 2
    most = capacity
    mask = capacity - 1L
  }
}

private[sash] object SlotRing {
  val InitialCapacity: Int = 16
  val MaxCapacity: Int = Slots.MaxCapacity

  /**
   * Spreads a full ring over a ring of twice its `capacity`. The ring begins at slot `first` and
   * its newest position is `end` - 1. A position whose bit `capacity` is set moves up by
   * `capacity` slots; the others stay. So one part of the ring moves: the positions from the last
   * multiple of the capacity on, or the positions before it.
   */
  def spread(slots: Slots, first: Int, capacity: Int, end: Long): Unit = {
    val turn = (end - 1) & -capacity.toLong
    val after = (end - turn).toInt
    if ((turn & capacity) != 0) slots.move(first + capacity, first, after)
    else slots.move(first + capacity + after, first + after, capacity - after)
  }
}
