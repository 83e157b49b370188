package io.sash.core.shared

import io.sash.core.elements.{Coalescing, InOrderWindow, Suffixes}
import io.sash.core.slots.Partials

/**
 * In-order windows of several lengths over one sequence of elements, numbered from 0. An element
 * enters all windows and leaves each one separately.
 *
 * Paper: the final aggregation of a shared plan in ''SlickDeque'', section 2.3; its elements are
 * partial aggregates.
 */
trait SharedWindows extends Coalescing {

  /** Opens a slot for the next element, like `InOrderWindow.open`. */
  def open(): Int

  /** Takes the oldest open element into every window. */
  def insert(): Unit

  /** Drops the oldest element of one window. */
  def evict(window: Int): Unit

  /** The slot that holds the aggregate of one window; valid until the next call. */
  def query(window: Int): Int

  /** The number of elements in one window. */
  def size(window: Int): Int

  /** Empties all windows, open slots included. */
  def clear(): Unit

  def column: Partials

  /** Moves the windows onto the column that `move` returns. Slot numbers stay the same. */
  def relocate(move: Partials => Partials): Unit
}

/**
 * One of several windows that share their elements, for callers that slide each window
 * separately. Elements enter all windows through the first, so a caller moves the first before
 * the others.
 *
 * @param number the window's number among `windows`
 */
final class SharedWindow(windows: SharedWindows, number: Int) extends InOrderWindow {
  private def isFirst: Boolean = number == 0

  override def open(): Int = windows.open()

  override def insert(): Unit = if (isFirst) windows.insert()

  override def evict(): Unit = windows.evict(number)

  override def query(): Int = windows.query(number)

  override def size: Int = windows.size(number)

  override def clear(): Unit = if (isFirst) windows.clear()

  override def column: Partials = windows.column

  override def relocate(move: Partials => Partials): Unit = windows.relocate(move)

  override protected def openCount: Long = notAlone()

  override protected def openSlot(i: Long): Int = notAlone()

  override protected def dropYoungestOpen(): Unit = notAlone()

  private def notAlone(): Nothing =
    throw new UnsupportedOperationException("open elements belong to all windows that share them")
}

/**
 * Several windows as suffixes of the longest one. It runs over SlickDeque (Non-Inv), FlatFIT,
 * B-Int and Recalculate. SlickDeque (Non-Inv) answers all windows in one walk of its deque if the
 * longest window is asked first.
 *
 * Cost: the longest window's cost, and one suffix query for each answer. An `evict` of a window
 * that is as long as the longest one looks at the sizes of all windows.
 *
 * Paper: ''SlickDeque'', section 3.2, algorithm 2.
 */
final class SuffixWindows(longest: InOrderWindow with Suffixes, windows: Int)
    extends SharedWindows {
  private[this] val sizes = new Array[Int](windows)

  override def open(): Int = longest.open()

  override def coalesce(): Unit = longest.coalesce()

  override def oldestOpen: Int = longest.oldestOpen

  override def discard(): Unit = longest.discard()

  override def insert(): Unit = {
    longest.insert()
    var i = 0
    while (i < windows) {
      sizes(i) += 1
      i += 1
    }
  }

  override def evict(window: Int): Unit = {
    if (sizes(window) == 0) throw new NoSuchElementException(s"evict($window) on an empty window")
    if (holdsOldestAlone(window)) longest.evict()
    sizes(window) -= 1
  }

  override def query(window: Int): Int = longest.query(sizes(window))

  override def size(window: Int): Int = sizes(window)

  override def clear(): Unit = {
    longest.clear()
    java.util.Arrays.fill(sizes, 0)
  }

  override def column: Partials = longest.column

  override def relocate(move: Partials => Partials): Unit = longest.relocate(move)

  private def holdsOldestAlone(window: Int): Boolean =
    sizes(window) == longest.size && windowsWithOldest == 1

  private def windowsWithOldest: Int = {
    var count = 0
    var i = 0
    while (i < windows) {
      if (sizes(i) == longest.size) count += 1
      i += 1
    }
    count
  }
}
