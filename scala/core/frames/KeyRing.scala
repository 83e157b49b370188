package io.sash.core.frames

import io.sash.core.elements.SlotRing
import io.sash.core.slots.{Keys, Positions}

/**
 * The keys of the rows of a partition that frames still compare, in a ring behind two slots for
 * the bounds of each frame. A row has arrived when its key is here.
 *
 * @param users how many [[RangeKeys]] look at the keys
 */
final class KeyRing(initial: Keys, users: Int) {
  private[this] val reserved = 2 * users
  private[this] var capacity = SlotRing.InitialCapacity
  private[this] var keys = initial.grow(reserved + capacity)
  private[this] val needed = new Array[Long](users) // the first row that a user may look at
  private[this] var end = 0L

  /** Where the keys are; it may change when a slot is opened. */
  def column: Keys = keys

  /** Moves the keys to where `move` answers; slot numbers stay the same. */
  def relocate(move: Keys => Keys): Unit = keys = move(keys)

  /** Another partition begins. */
  def clear(): Unit = {
    java.util.Arrays.fill(needed, 0L)
    end = 0L
  }

  /** The slot for the key of the row that arrives, which the owner fills. */
  def open(): Int = {
    if (end - first == capacity) doubleCapacity()
    end += 1
    slot(end - 1)
  }

  private[frames] def firstOf(user: Int): Long = needed(user)

  /** A user compares rows before `row` no more. */
  private[frames] def forgetBefore(user: Int, row: Long): Unit = needed(user) = row

  /** The slot of the key of a row. */
  private[frames] def slot(row: Long): Int = reserved + (row & (capacity - 1)).toInt

  private def first: Long = Positions.least(needed)

  private def doubleCapacity(): Unit = {
    keys = keys.grow(reserved + 2 * capacity)
    SlotRing.spread(keys, reserved, capacity, end)
    capacity *= 2
  }
}
