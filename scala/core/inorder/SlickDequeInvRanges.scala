package io.sash.core.inorder

import io.sash.core.elements.SlotRing
import io.sash.core.shared.SharedWindows
import io.sash.core.slots.{Invertible, Partials, Positions}

/**
 * SlickDeque (Inv) over several ranges: each element is kept once, and each distinct range has
 * one running answer. The calls of a single window mean the longest window.
 *
 * Invariants, for window i over the positions `fronts(i)` … B-1:
 *  - (I1) positions `front` … B-1 hold the lifted values, where `front` is the least of `fronts`
 *  - (I2) slot `answers` + i holds the aggregate of window i. `answers` is 0 or the number of
 *    windows; an insertion puts the next answers into the other half of these slots
 *
 * Cost: for each range one combine an insert and one subtract an evict, nothing a query. An evict
 * from the longest window also compares the fronts of all windows. Space: n + twice the number of
 * ranges.
 *
 * Paper: ''SlickDeque'', section 3.2, algorithm 1.
 */
final class SlickDequeInvRanges(initial: Partials with Invertible, windows: Int)
    extends SlotRing(initial, reserved = 2 * windows)
    with SharedWindows {
  if (windows < 1) throw new IllegalArgumentException(s"$windows windows; at least 1 is needed")

  private[this] val fronts = new Array[Long](windows)
  private[this] var answers = 0

  identities()

  override def size(window: Int): Int = (back - fronts(window)).toInt

  override def insert(): Unit = {
    requireOpen(end - back)
    val value = slot(back)
    val next = windows - answers
    var i = 0
    while (i < windows) {
      partials.combine(next + i, answers + i, value)
      i += 1
    }
    answers = next
    back += 1
  }

  override def evict(window: Int): Unit = {
    if (fronts(window) == back) {
      throw new NoSuchElementException(s"evict($window) on an empty window")
    }
    val oldest = fronts(window)
    invertible.subtract(answers + window, answers + window, slot(oldest))
    fronts(window) += 1
    if (oldest == front) front = Positions.least(fronts)
  }

  override def query(window: Int): Int = answers + window

  override def evict(): Unit = {
    requireNonEmpty()
    val next = windows - answers
    val oldest = slot(front)
    var i = 0
    while (i < windows) {
      if (fronts(i) == front) invertible.subtract(next + i, answers + i, oldest)
      i += 1
    }
    i = 0
    while (i < windows) {
      if (fronts(i) == front) {
        partials.copy(answers + i, next + i)
        fronts(i) += 1
      }
      i += 1
    }
    front += 1
  }

  override def query(): Int = {
    var i = 0
    while (fronts(i) != front) i += 1
    answers + i
  }

  override def clear(): Unit = {
    super.clear()
    java.util.Arrays.fill(fronts, 0L)
    identities()
  }

  private def identities(): Unit = {
    var i = 0
    while (i < windows) {
      partials.identity(answers + i)
      i += 1
    }
  }
}
