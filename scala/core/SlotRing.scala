package io.sash.core

/**
 * The resizable double-ended queue under the algorithms: positions 0, 1, 2, … of the stream are
 * mapped onto the slots `reserved`, `reserved` + 1, … of a column, modulo a power of two.
 * Positions are never reused, so pointers into the queue compare as numbers.
 *
 * Invariants:
 *  - (R1) front <= end, and end - front <= capacity
 *  - (R2) position p with front <= p < end lives in slot(p), and nowhere else
 *
 * @param reserved slots below the ring that belong to the algorithm (answers, running values)
 */
private[core] abstract class SlotRing(initial: Partials, reserved: Int) extends InOrderWindow {
  private[this] var capacity = SlotRing.InitialCapacity
  private[this] var mask = capacity - 1L

  protected[this] var partials: Partials = initial.grow(reserved + capacity)

  /** Position of the oldest element. */
  protected[this] var front = 0L

  /** Position after the newest open element. */
  protected[this] var end = 0L

  protected[this] final def slot(position: Long): Int = reserved + (position & mask).toInt

  override final def open(): Int = {
    if (end - front == capacity) doubleCapacity()
    val opened = slot(end)
    end += 1
    opened
  }

  override final def column: Partials = partials

  override def relocate(move: Partials => Partials): Unit = partials = move(partials)

  /** A position whose bit `capacity` is set moves up by that much; all others stay (R2). */
  private def doubleCapacity(): Unit = {
    if (capacity >= SlotRing.MaxCapacity) {
      throw new IllegalStateException(
        s"a window holds at most ${SlotRing.MaxCapacity} partial aggregates"
      )
    }
    partials = partials.grow(reserved + 2 * capacity)
    var p = front
    while (p < end) {
      if ((p & capacity) != 0) {
        val from = slot(p)
        partials.copy(from + capacity, from)
      }
      p += 1
    }
    capacity *= 2
    mask = capacity - 1L
  }
}

private[core] object SlotRing {
  val InitialCapacity: Int = 16
  val MaxCapacity: Int = 1 << 30
}
