package io.sash.papers.policy

import io.sash.core.slots.LongQueue

/**
 * Decides when a window slides: which of the oldest elements leave when an element arrives, and
 * when the window ''triggers'', that is, gives an answer to its output. A policy sees only the
 * ''attribute'' of an element, for example a timestamp. It keeps only the attributes that it
 * needs. A policy that does not use attributes takes any. A policy belongs to one window.
 *
 * Any class may be a policy. It sees its window as a [[MovableWindow]], with only the calls that
 * a policy may make. This policy triggers when a minute is over, whose elements then leave:
 * {{{
 *   final class Minutes extends OrderedPolicy {
 *     private[this] var minute = 0L
 *     override protected def move(seconds: Long, window: MovableWindow): Unit =
 *       if (window.size > 0 && seconds / 60 > minute) {
 *         window.trigger()
 *         window.evictAll()
 *       }
 *     override def entered(seconds: Long, window: MovableWindow): Unit = minute = seconds / 60
 *   }
 * }}}
 * If the column or the output throws during an eviction or a trigger, that step has changed
 * nothing. The event is then repeated, so a policy notes a step only after the step has
 * succeeded.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', sections 2.1 to 2.3: window size and
 * slide by time, count, delta or punctuation; the events insert, evict and trigger.
 */
abstract class WindowPolicy {
  private[this] var taken = false

  /** Gives the policy to the caller's window, or throws if another window has it. */
  private[policy] final def claim(): Unit = {
    if (taken) {
      throw new IllegalStateException("this policy is another window's; make one for each window")
    }
    taken = true
  }

  /** Called before an element enters. Moves the window, or throws and leaves it as it was. */
  def arrive(attribute: Long, window: MovableWindow): Unit = ()

  /** Called after the element has entered. */
  def entered(attribute: Long, window: MovableWindow): Unit = ()

  /** Called when no element with a lesser attribute will come. */
  def punctuate(attribute: Long, window: MovableWindow): Unit = ()

  /** Resets the policy to the state in which it was made. */
  def clear(): Unit = ()
}

/** The calls that a policy may make on its window. */
trait MovableWindow {

  /** The number of elements in the window. */
  def size: Int

  /** The slot of the present aggregate; valid until a change. */
  def query(): Int

  /** Drops the oldest element. */
  def evict(): Unit

  /** Drops all elements. */
  def evictAll(): Unit

  /** Gives the window's present aggregate to its output. */
  def trigger(): Unit
}

/**
 * A policy by an attribute that must not go back. Elements with the same attribute are peers.
 * Attributes and extents (a range, a size, a gap) lie below 2^62, so the sum of two never
 * overflows.
 */
abstract class OrderedPolicy extends WindowPolicy {
  private[this] var latest = Long.MinValue

  /** The attributes of the window's elements, in a policy that notes them as elements enter. */
  private[policy] final val attributes = new LongQueue

  /**
   * Notes the attribute of the element that has entered, unless the window has made it one with
   * an element of the same attribute, as FiBA does.
   */
  private[policy] final def note(attribute: Long, window: MovableWindow): Unit =
    if (attributes.size < window.size) attributes.add(attribute)

  /** Moves the window to its place once attributes have reached this value. */
  protected def move(attribute: Long, window: MovableWindow): Unit

  override final def arrive(attribute: Long, window: MovableWindow): Unit = {
    if (math.abs(attribute) >= OrderedPolicy.Limit || attribute == Long.MinValue) {
      throw new IllegalArgumentException(s"attribute $attribute, which is not below 2^62")
    }
    advance(attribute, window)
  }

  override final def punctuate(attribute: Long, window: MovableWindow): Unit =
    advance(math.max(attribute, -OrderedPolicy.Limit), window)

  override def clear(): Unit = {
    latest = Long.MinValue
    attributes.clear()
  }

  /** Evicts the elements whose attributes are less than `bound`. */
  private[policy] final def evictBefore(bound: Long, window: MovableWindow): Unit =
    while (attributes.size > 0 && attributes.head < bound) {
      window.evict()
      attributes.remove()
    }

  private def advance(attribute: Long, window: MovableWindow): Unit = {
    if (attribute < latest) {
      throw new IllegalArgumentException(
        s"attribute $attribute after $latest: this window takes elements in its order only"
      )
    }
    move(attribute, window)
    latest = attribute
  }
}

private object OrderedPolicy {
  final val Limit = 1L << 62

  def requireExtent(name: String, extent: Long, least: Long): Unit =
    if (extent < least || extent >= Limit) {
      throw new IllegalArgumentException(s"$name $extent, not one of $least to 2^62 - 1")
    }
}
