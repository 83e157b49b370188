package io.sash.core.frames

import io.sash.core.slots.Keys

/**
 * The order keys of a [[RangeFrame]] and the bounds of its current row, which lie in two slots of
 * the ring. Several frames may look at one ring.
 *
 * A bound is computed when it is first compared with, so that one that overflows does no harm
 * where nothing is compared with it.
 *
 * @param ring of the keys of all rows that have arrived
 * @param user which of the ring's users this is
 * @param lower number of the shift that gives the lower bound, or CurrentRow, or Unbounded
 * @param upper likewise
 */
final class RangeKeys(val ring: KeyRing, user: Int, lower: Int, upper: Int) {
  import RangeKeys._

  private[this] val lowerBound = 2 * user
  private[this] val upperBound = 2 * user + 1
  private[this] var lowerOf = -1L
  private[this] var upperOf = -1L
  private[this] var lastReach = 1L // how many rows the last search went back

  /** Keys of which there is no other user. */
  def this(initial: Keys, lower: Int, upper: Int) =
    this(new KeyRing(initial, users = 1), 0, lower, upper)

  /** The slot for the key of the row that arrives, in a ring without another user. */
  def open(): Int = ring.open()

  /** Another partition begins, for all users of the ring. */
  def clear(): Unit = {
    ring.clear()
    lowerOf = -1L
    upperOf = -1L
    lastReach = 1L
  }

  /** Rows before `row` are compared no more. */
  private[frames] def forgetBefore(row: Long): Unit = ring.forgetBefore(user, row)

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

  /**
   * The first row that does not lie below the lower bound of row `current`, or `until`. The search
   * first goes back as far as the last one has gone, on from there in steps that double, and then
   * halves the last step. It makes twice as many comparisons as the logarithm of this frame's
   * length or the last one's, whichever is longer, and about as many as the logarithm if the two
   * are alike; the length of the partition does not matter.
   */
  private[frames] def firstNotBelow(current: Long, until: Long): Long = {
    var below = ring.firstOf(user) // rows before it are below
    var others = until // it and the rows behind it are not
    var step = lastReach
    while (others - step > below && !isBelow(others - step, current)) {
      others -= step
      step <<= 1
    }
    below = math.max(below, others - step)
    while (below < others) {
      val middle = (below + others) >>> 1
      if (isBelow(middle, current)) below = middle + 1 else others = middle
    }
    lastReach = math.max(1L, until - below)
    below
  }

  /** Whether two rows have equal keys. */
  private[frames] def arePeers(row: Long, other: Long): Boolean =
    keys.compare(slot(row), slot(other)) == 0

  /** Where the key of a row is. */
  private[frames] def slot(row: Long): Int = ring.slot(row)

  private def keys: Keys = ring.column
}

object RangeKeys {

  /** A bound that is the current row with its peers. */
  val CurrentRow: Int = -1

  /** A bound that no row lies beyond. */
  val Unbounded: Int = -2
}
