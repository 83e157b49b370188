package io.sash.core.frames

import io.sash.core.slots.Keys

/**
 * The rows of a partition by their order keys, with the two bounds of the current row. The bounds
 * lie in two slots of the ring. Several frames may share one ring.
 *
 * A bound is computed at its first comparison. So a bound that overflows does no harm if no row
 * is compared with it.
 *
 * @param ring the keys of all rows that have arrived
 * @param user the number of this user of the ring
 */
final class RangeKeys(val ring: KeyRing, user: Int, lower: KeyBound, upper: KeyBound)
    extends Rows {
  import RangeKeys._

  // the number of a bound's shift, or -1
  private[this] val lowerShift = shiftOf(lower)
  private[this] val upperShift = shiftOf(upper)
  override val isUnboundedBelow: Boolean = lower == KeyBound.Unbounded
  private[this] val isLowerPeers = lower == KeyBound.CurrentRow
  override val isUpToPeers: Boolean = upper == KeyBound.CurrentRow

  // a key lies below the frame if comparing it with the lower bound gives less than
  // `leastWithin`, and above if comparing it with the upper bound gives more than `mostWithin`
  private[this] val leastWithin = if (isOpen(lower)) 1 else 0
  private[this] val mostWithin = if (isOpen(upper)) -1 else 0

  private[this] val lowerBound = 2 * user
  private[this] val upperBound = 2 * user + 1
  private[this] var lowerOf = -1L
  private[this] var upperOf = -1L
  private[this] var lastReach = 1L // how many rows the last search went back
  private[this] var lastBeyond = 1L // the same for the last search for the upper bound

  /** Keys in a ring of their own, without other users. */
  def this(initial: Keys, lower: KeyBound, upper: KeyBound) =
    this(new KeyRing(initial, users = 1), 0, lower, upper)

  /**
   * Opens the slot for the next row's key, in a ring without other users. The caller fills it.
   */
  def open(): Int = ring.open()

  /** Forgets all keys, for all users of the ring, since another partition begins. */
  override def clear(): Unit = {
    ring.clear()
    lowerOf = -1L
    upperOf = -1L
    lastReach = 1L
    lastBeyond = 1L
  }

  override def forgetBefore(row: Long): Unit = ring.forgetBefore(user, row)

  override def isAbove(row: Long, current: Long): Boolean =
    if (upperShift >= 0) {
      if (upperOf != current) {
        keys.shift(upperShift, upperBound, slot(current))
        upperOf = current
      }
      keys.compare(slot(row), upperBound) > mostWithin
    } else {
      isUpToPeers && keys.compare(slot(row), slot(current)) > 0
    }

  override def isBelow(row: Long, current: Long): Boolean =
    if (lowerShift >= 0) {
      if (lowerOf != current) {
        keys.shift(lowerShift, lowerBound, slot(current))
        lowerOf = current
      }
      keys.compare(slot(row), lowerBound) < leastWithin
    } else {
      isLowerPeers && keys.compare(slot(row), slot(current)) < 0
    }

  override def firstNotBelow(current: Long, from: Long, until: Long): Long = {
    var row = from
    while (row < until && isBelow(row, current)) row += 1
    row
  }

  /**
   * The first row that does not lie below the lower bound of row `current`, or `until` if all do.
   * The search goes back first as far as the last search went, then in steps that double, and
   * halves the last step. Let m be the rows in this frame or in the last one, whichever is
   * longer. The search makes at most 2 log m comparisons, and about log m if the two are alike.
   * The length of the partition does not matter.
   */
  override def searchNotBelow(current: Long, until: Long): Long = {
    val first = search(current, until, lastReach, ofUpper = false)
    lastReach = math.max(1L, until - first)
    first
  }

  /**
   * The first row that lies above the upper bound of row `current`, or `until` if none does. It
   * searches as `searchNotBelow` does.
   */
  private[frames] def searchAbove(current: Long, until: Long): Long = {
    val first = search(current, until, lastBeyond, ofUpper = true)
    lastBeyond = math.max(1L, until - first)
    first
  }

  private def search(current: Long, until: Long, reach: Long, ofUpper: Boolean): Long = {
    var before = ring.firstOf(user) // rows before `before` lie before the bound
    var others = until // row `others` and later rows do not
    var step = reach
    while (others - step > before && isBehind(others - step, current, ofUpper)) {
      others -= step
      step <<= 1
    }
    before = math.max(before, others - step)
    while (before < others) {
      val middle = (before + others) >>> 1
      if (isBehind(middle, current, ofUpper)) others = middle else before = middle + 1
    }
    before
  }

  /** Whether a row lies behind the upper bound, or not before the lower one. */
  private def isBehind(row: Long, current: Long, ofUpper: Boolean): Boolean =
    if (ofUpper) isAbove(row, current) else !isBelow(row, current)

  override def arePeers(row: Long, other: Long): Boolean =
    keys.compare(slot(row), slot(other)) == 0

  override def holds(row: Long): Boolean = keys.holds(slot(row))

  override def width(row: Long): Long = keys.width(slot(row))

  override def groups(lower: Long, upper: Long): Rows = new GroupRows(this, lower, upper)

  private def slot(row: Long): Int = ring.slot(row)

  private def keys: Keys = ring.column
}

private object RangeKeys {
  private def shiftOf(bound: KeyBound): Int = bound match {
    case KeyBound.Shifted(shift, _) => shift
    case _                          => -1
  }

  private def isOpen(bound: KeyBound): Boolean = bound match {
    case KeyBound.Shifted(_, isOpen) => isOpen
    case _                           => false
  }
}
