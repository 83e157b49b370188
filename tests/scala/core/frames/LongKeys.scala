package io.sash.core.frames

import io.sash.core.slots.Keys

/** Order keys that are longs. A shift adds a number; a sum that overflows fails. */
final class LongKeys(shifts: Array[Long], condition: Long => Boolean = _ => true) extends Keys {
  private[this] var values = new Array[Long](0)

  def capacity: Int = values.length

  def lift(slot: Int, value: Long): Unit = values(slot) = value

  override def compare(left: Int, right: Int): Int =
    java.lang.Long.compare(values(left), values(right))

  override def shift(which: Int, dst: Int, src: Int): Unit =
    values(dst) = Math.addExact(values(src), shifts(which))

  override def holds(slot: Int): Boolean = condition(values(slot))

  override def copy(dst: Int, src: Int): Unit = values(dst) = values(src)

  override def grow(slots: Int): LongKeys = {
    if (slots > values.length) values = java.util.Arrays.copyOf(values, slots)
    this
  }
}
