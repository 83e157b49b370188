package io.sash.core.elements

import io.sash.core.slots.Partials

/**
 * The sliding-window aggregation data type (SWAG) over slots, for arrival in order: elements
 * enter at the back, leave at the front, and the window may grow and shrink freely.
 *
 * A value enters in two steps, so that it is lifted straight into its place:
 * {{{
 *   val slot = window.open()   // a slot for the newest element
 *   column.lift(slot, value)   // the owner of the column fills it
 *   window.insert()            // it is now part of the window
 * }}}
 * Several slots may be open at once (rows that have arrived but that no frame includes yet);
 * `insert` takes them in the order in which they were opened.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 2.
 */
abstract class InOrderWindow extends Coalescing {

  /** Opens a slot for the next element; what it holds is undefined until the owner fills it. */
  def open(): Int

  /** Takes the oldest open element into the window. */
  def insert(): Unit

  /** Drops the oldest element of the window; fails on an empty window and leaves it as it was. */
  def evict(): Unit

  /** The slot that holds v0 ⊗ … ⊗ vn-1, the identity for an empty window; valid until a change. */
  def query(): Int

  /** Elements in the window, open ones not counted. */
  def size: Int

  /** Empties the window, open slots included, in constant time; capacity is kept. */
  def clear(): Unit

  /** The column whose slots `open` and `query` name; it may change when a slot is opened. */
  def column: Partials

  /** Moves the window onto the column that `move` answers; slot numbers stay the same. */
  def relocate(move: Partials => Partials): Unit

  override final def coalesce(): Unit = {
    requireOpenFor("coalesce()", openCount, 2)
    val older = openSlot(openCount - 2)
    combine(older, older, openSlot(openCount - 1))
    dropYoungestOpen()
  }

  override final def oldestOpen: Int = {
    requireOpenFor("oldestOpen", openCount, 1)
    openSlot(0L)
  }

  override final def discard(): Unit = {
    requireOpenFor("discard()", openCount, 1)
    dropYoungestOpen()
  }

  /** Elements that are open. */
  protected def openCount: Long

  /** The slot of the i-th open element, from the oldest, which is the 0th. */
  protected def openSlot(i: Long): Int

  protected def dropYoungestOpen(): Unit

  protected final def combine(dst: Int, left: Int, right: Int): Unit =
    column.combine(dst, left, right)

  protected final def requireNonEmpty(): Unit =
    if (size == 0) throw new NoSuchElementException("evict() on an empty window")

  protected final def requireOpen(open: Long): Unit =
    if (open <= 0) throw new IllegalStateException("insert() without an open slot; call open()")

  private def requireOpenFor(call: String, open: Long, needed: Int): Unit =
    if (open < needed) {
      throw new IllegalStateException(s"$call with $open open slots of $needed; call open()")
    }

  protected final def requireStretch(from: Int, until: Int): Unit =
    if (from < 0 || until < from || until > size) {
      throw new IllegalArgumentException(s"append($from, $until) on a window of $size elements")
    }

  protected final def requireSuffix(last: Int): Unit =
    if (last < 0 || last > size) {
      throw new IllegalArgumentException(s"query($last) on a window of $size elements")
    }
}

/** Elements that are aggregated before they enter a window: panes, pairs, slices. */
trait Coalescing {

  /**
   * Combines the two youngest open elements into one, in the place of the older. What is open
   * grows into a partial aggregate in this way, and enters the window as one element.
   */
  def coalesce(): Unit

  /** The slot of the oldest open element: what the next `insert` takes. */
  def oldestOpen: Int

  /** Gives the youngest open element back. */
  def discard(): Unit
}

/** A window that answers for its youngest elements alone, so that shorter windows share it. */
trait Suffixes {

  /**
   * The slot that holds the aggregate of the youngest `last` elements, the identity for none;
   * valid until the next call.
   */
  def query(last: Int): Int
}

/**
 * A window that answers for any stretches of its elements, put together from the oldest to the
 * youngest:
 * {{{
 *   window.begin()
 *   window.append(0, 3)
 *   window.append(4, 7)      // without element 3
 *   column.lower(window.answer())
 * }}}
 */
trait Stretches {

  /** Begins another answer, of nothing yet. */
  def begin(): Unit

  /** Appends the elements [from, until), counted from the oldest, which is the 0th. */
  def append(from: Int, until: Int): Unit

  /** The slot that holds what has been appended, the identity for nothing; valid until a call. */
  def answer(): Int
}
