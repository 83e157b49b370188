package io.sash.core.slots

/** A queue of longs, one for each element of a window, in a ring that doubles when it is full. */
private[sash] final class LongQueue {
  private[this] var ring = new Array[Long](16)
  private[this] var first = 0
  private[this] var length = 0

  def size: Int = length

  def head: Long = ring(first)

  /** The i-th value, counted from 0 for the oldest. */
  def apply(i: Int): Long = ring((first + i) & (ring.length - 1))

  def add(value: Long): Unit = {
    if (length == ring.length) doubleCapacity()
    ring((first + length) & (ring.length - 1)) = value
    length += 1
  }

  def remove(): Unit = {
    first = (first + 1) & (ring.length - 1)
    length -= 1
  }

  def clear(): Unit = length = 0

  private def doubleCapacity(): Unit = {
    val doubled = new Array[Long](2 * length)
    System.arraycopy(ring, first, doubled, 0, length - first)
    System.arraycopy(ring, 0, doubled, length - first, first)
    ring = doubled
    first = 0
  }
}
