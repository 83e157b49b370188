package io.sash.core.frames

import io.sash.core.slots.{Keys, SlotRing}

/**
 * The order keys of a [[RangeFrame]]: slots 0 and 1 hold the bounds of the current row, the others
 * are a ring of the keys of rows [first, end) of the partition, which the bounds still need.
 *
 * A bound is computed when it is first compared with, so that one that overflows does no harm
 * where nothing is compared with it.
 *
 * @param lower number of the shift that gives the lower bound, or CurrentRow, or Unbounded
 * @param upper likewise
 */
final class RangeKeys(initial: Keys, lower: Int, upper: Int) {
  import RangeKeys._

  private[this] val lowerBound = 0
  private[this] val upperBound = 1
  private[this] var capacity = SlotRing.InitialCapacity
  private[this] var keys = initial.grow(Reserved + capacity)
  private[this] var first = 0L
  private[this] var end = 0L
  private[this] var lowerOf = -1L
  private[this] var upperOf = -1L

  /** Where the keys are; it may change when a slot is opened. */
  def column: Keys = keys

  /** Moves the keys to where `move` answers; slot numbers stay the same. */
  def relocate(move: Keys => Keys): Unit = keys = move(keys)

  def clear(): Unit = {
    first = 0L
    end = 0L
    lowerOf = -1L
    upperOf = -1L
  }

  /** The slot for the key of the row that arrives, which the owner fills. */
  def open(): Int = {
    if (end - first == capacity) doubleCapacity()
    end += 1
    slot(end - 1)
  }

  /** Rows before `row` are compared no more. */
  private[frames] def forgetBefore(row: Long): Unit = first = row

  /** Whether `row` lies above the upper bound of row `current`. */
  private[frames] def isAbove(row: Long, current: Long): Boolean =
    if (upper >= 0) {
      if (upperOf != current) {
        keys.shift(upper, upperBound, slot(current))
        upperOf = current
      }
      keys.compare(slot(row), upperBound) > 0
    } else {
      upper == CurrentRow && keys.compare(slot(row), slot(current)) > 0
    }

  /** Whether `row` lies below the lower bound of row `current`. */
  private[frames] def isBelow(row: Long, current: Long): Boolean =
    if (lower >= 0) {
      if (lowerOf != current) {
        keys.shift(lower, lowerBound, slot(current))
        lowerOf = current
      }
      keys.compare(slot(row), lowerBound) < 0
    } else {
      lower == CurrentRow && keys.compare(slot(row), slot(current)) < 0
    }

  /** The first row that does not lie below the lower bound of row `current`, or `until`. */
  private[frames] def firstNotBelow(current: Long, until: Long): Long = {
    var below = first
    var others = until
    while (below < others) {
      val middle = (below + others) >>> 1
      if (isBelow(middle, current)) below = middle + 1 else others = middle
    }
    below
  }

  /** Whether two rows have equal keys. */
  private[frames] def arePeers(row: Long, other: Long): Boolean =
    keys.compare(slot(row), slot(other)) == 0

  /** Where the key of a row is. */
  private[frames] def slot(row: Long): Int = Reserved + (row & (capacity - 1)).toInt

  private def doubleCapacity(): Unit = {
    keys = keys.grow(Reserved + 2 * capacity)
    SlotRing.spread(keys, Reserved, capacity, end)
    capacity *= 2
  }
}

object RangeKeys {
  private final val Reserved = 2

  /** A bound that is the current row with its peers. */
  val CurrentRow: Int = -1

  /** A bound that no row lies beyond. */
  val Unbounded: Int = -2
}
