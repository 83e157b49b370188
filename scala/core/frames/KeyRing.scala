package io.sash.core.frames

import io.sash.core.elements.SlotRing
import io.sash.core.slots.{Keys, Positions}

/**
 * The keys of the partition's rows that frames may still compare, in a ring. Two slots for the
 * bounds of each frame come before the ring. A row has arrived when its key is here.
 *
 * @param users the number of [[RangeKeys]] that compare the keys
 */
final class KeyRing(initial: Keys, users: Int) {
  private[this] val reserved = 2 * users
  private[this] var capacity = SlotRing.InitialCapacity
  private[this] var keys = initial.grow(reserved + capacity)
  private[this] val needed = new Array[Long](users) // each user's first row to compare
  private[this] var end = 0L

  /** The column of the keys. Opening a slot may replace it. */
  def column: Keys = keys

  /** Moves the keys onto the column that `move` returns. Slot numbers stay the same. */
  def relocate(move: Keys => Keys): Unit = keys = move(keys)

  /** Forgets all keys, since another partition begins. */
  def clear(): Unit = {
    java.util.Arrays.fill(needed, 0L)
    end = 0L
  }

  /** Opens the slot for the key of the next row. The caller fills it. */
  def open(): Int = {
    if (end - first == capacity) doubleCapacity()
    end += 1
    slot(end - 1)
  }

  private[frames] def firstOf(user: Int): Long = needed(user)

  /** Notes that a user no longer compares rows before `row`. */
  private[frames] def forgetBefore(user: Int, row: Long): Unit = needed(user) = row

  /** The slot of a row's key. */
  private[frames] def slot(row: Long): Int = reserved + (row & (capacity - 1)).toInt

  private def first: Long = Positions.least(needed)

  private def doubleCapacity(): Unit = {
    keys = keys.grow(reserved + 2 * capacity)
    SlotRing.spread(keys, reserved, capacity, end)
    capacity *= 2
  }
}
