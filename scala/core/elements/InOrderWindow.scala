package io.sash.core.elements

import io.sash.core.slots.Partials

/** The calls of a window over slots that do not depend on the order in which elements come. */
trait SlotWindow {

  /** Opens a slot for the next element. Its content is undefined until the owner fills it. */
  def open(): Int

  /** Drops the youngest open element, which never enters the window. */
  def discard(): Unit

  /** Drops the oldest element. On an empty window it throws and changes nothing. */
  def evict(): Unit

  /**
   * The slot that holds v0 ⊗ … ⊗ vn-1, or the identity for an empty window; valid until a change.
   */
  def query(): Int

  /** The number of elements in the window, without the open ones. */
  def size: Int

  /** Empties the window, open slots included, in constant time. The capacity stays. */
  def clear(): Unit

  /** The column of the slots that the calls return. Opening a slot may replace it. */
  def column: Partials
}

/**
 * The sliding-window aggregation data type (SWAG) over slots, for elements that arrive in order.
 * Elements enter at the back and leave at the front. The window may grow and shrink freely.
 *
 * A value enters in two steps, so that it is lifted straight into its place:
 * {{{
 *   val slot = window.open()   // a slot for the newest element
 *   column.lift(slot, value)   // the owner of the column fills it
 *   window.insert()            // it is now part of the window
 * }}}
 * Where each new value drops the oldest, `slide` opens the slot. Several slots may be open at
 * once, for rows that have arrived but that no frame includes yet. `insert` takes the open
 * elements in the order in which their slots were opened.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 2.
 */
abstract class InOrderWindow extends SlotWindow with Coalescing {

  /** Takes the oldest open element into the window. */
  def insert(): Unit

  /**
   * Drops the oldest element and opens a slot for the next one, as `evict` and `open` do. A ring
   * never grows by this call, so that a loop over it is compiled without the copying of slots.
   * For SlickDeque (Inv) it takes half the time. If the call throws, the window is as it was.
   */
  def slide(): Int = {
    val opened = open()
    try evict()
    catch {
      case e: Throwable =>
        discard()
        throw e
    }
    opened
  }

  /** Moves the window onto the column that `move` returns. Slot numbers stay the same. */
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

  /** The number of open elements. */
  protected def openCount: Long

  /** The slot of the i-th open element, counted from 0 for the oldest. */
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

/**
 * An in-order window whose elements have the positions 0, 1, 2, … of the stream. Positions are
 * never reused, so they compare as numbers. The window is [front, back), and the elements of
 * [back, end) are open: front <= back <= end.
 */
abstract class QueueWindow extends InOrderWindow {

  /** Position of the oldest element. */
  protected[this] var front = 0L

  /** Position after the newest element, which is the position of the oldest open element. */
  protected[this] var back = 0L

  /** Position after the newest open element. */
  protected[this] var end = 0L

  /** The slot in which the element of this position was lifted. */
  protected[this] def slot(position: Long): Int

  override def size: Int = (back - front).toInt

  override def clear(): Unit = {
    front = 0L
    back = 0L
    end = 0L
  }

  override protected final def openCount: Long = end - back

  override protected final def openSlot(i: Long): Int = slot(back + i)

  override protected final def dropYoungestOpen(): Unit = end -= 1
}

/** Combines open elements into panes, pairs or slices before they enter a window. */
trait Coalescing {

  /**
   * Combines the two youngest open elements into one, in the slot of the older. Repeated calls
   * build a partial aggregate, which enters the window as one element.
   */
  def coalesce(): Unit

  /** The slot of the oldest open element, which the next `insert` takes. */
  def oldestOpen: Int

  /** Drops the youngest open element, which never enters the window. */
  def discard(): Unit
}

/**
 * A window that keeps each of its elements in a slot of its own. So it can be iterated over:
 * {{{
 *   for (i <- 0 until window.size) column.lower(window.element(i))
 * }}}
 */
trait Elements extends QueueWindow {

  /**
   * The slot of element i, counted from 0 for the oldest, in constant time and without a combine;
   * valid until a change. Throws an IndexOutOfBoundsException if there is none.
   */
  final def element(i: Int): Int = {
    if (i < 0 || i >= size) {
      throw new IndexOutOfBoundsException(s"element($i) of a window of $size elements")
    }
    slot(front + i)
  }
}

/**
 * A window that also answers for its youngest elements alone. So shorter windows can share it.
 */
trait Suffixes {

  /**
   * The slot that holds the aggregate of the youngest `last` elements, or the identity if `last`
   * is 0; valid until the next call.
   */
  def query(last: Int): Int
}

/**
 * A window that answers for any ranges of its elements, appended from the oldest to the youngest:
 * {{{
 *   window.begin()
 *   window.append(0, 3)
 *   window.append(4, 7)      // without element 3
 *   column.lower(window.answer())
 * }}}
 */
trait Stretches {

  /** Begins a new answer without elements. */
  def begin(): Unit

  /** Appends the elements [from, until), counted from 0 for the oldest. */
  def append(from: Int, until: Int): Unit

  /**
   * The slot with the aggregate of the appended elements, or the identity if there are none;
   * valid until the next call.
   */
  def answer(): Int

  /**
   * The slot with the aggregate of the elements [from, until), at the cost of one range; valid
   * until the next call. Throws an IllegalArgumentException if the window has no such elements.
   */
  final def range(from: Int, until: Int): Int = {
    begin()
    append(from, until)
    answer()
  }
}
