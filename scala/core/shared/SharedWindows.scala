package io.sash.core.shared

import io.sash.core.inorder.{Coalescing, InOrderWindow, Suffixes}
import io.sash.core.slots.Partials

/**
 * In-order windows of several lengths over one sequence of elements, numbered from 0: an element
 * enters all of them, and leaves each on its own.
 *
 * This is the final aggregation of a [[SharedPlan]], whose elements are partial aggregates.
 */
trait SharedWindows extends Coalescing {

  /** Opens a slot for the next element, as `InOrderWindow.open`. */
  def open(): Int

  /** Takes the oldest open element into every window. */
  def insert(): Unit

  /** Drops the oldest element of one window. */
  def evict(window: Int): Unit

  /** The slot that holds the aggregate of one window; valid until the next call. */
  def query(window: Int): Int

  /** Elements in one window. */
  def size(window: Int): Int

  def column: Partials
}

/**
 * Several windows as suffixes of one: for SlickDeque (Non-Inv), which answers them all in one
 * walk of its deque when the longest is asked first, for FlatFIT, B-Int, and for Recalculate.
 *
 * Cost: that of the window, and its suffix query for each answer.
 *
 * Paper: ''SlickDeque'', section 3.2, algorithm 2.
 */
final class Suffixed(longest: InOrderWindow with Suffixes, windows: Int) extends SharedWindows {
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

  override def column: Partials = longest.column

  private def holdsOldestAlone(window: Int): Boolean = {
    var windowsWithOldest = 0
    var i = 0
    while (i < windows) {
      if (sizes(i) == longest.size) windowsWithOldest += 1
      i += 1
    }
    windowsWithOldest == 1 && sizes(window) == longest.size
  }
}
