package io.sash.core.policy

/**
 * Decides when a window slides: which of the oldest elements leave when one arrives, and when the
 * window ''triggers'', that is, has an answer for whoever waits for it. A policy sees of an
 * element only its ''attribute'', a timestamp, say, and keeps no more of it than it needs; a
 * policy that does not look at it takes any. A policy belongs to one window.
 *
 * Anybody's class may be a policy; of the window it is given what a policy may do to it. One that
 * triggers when a minute is over, whose elements then leave:
 * {{{
 *   final class Minutes extends OrderedPolicy {
 *     private[this] var minute = 0L
 *     override protected def move(seconds: Long, window: Sliding): Unit =
 *       if (window.size > 0 && seconds / 60 > minute) {
 *         window.trigger()
 *         window.evictAll()
 *       }
 *     override def entered(seconds: Long, window: Sliding): Unit = minute = seconds / 60
 *   }
 * }}}
 * An eviction or a trigger may throw what the column or the output throws, and has then changed
 * nothing. The event is repeated: a policy notes what has happened only once it has.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', sections 2.1 to 2.3: window size and
 * slide by time, count, delta or punctuation; the events insert, evict and trigger.
 */
abstract class WindowPolicy {

  /** An element is about to enter: moves the window, or refuses and leaves it as it was. */
  def arrive(attribute: Long, window: Sliding): Unit

  /** The element has entered. */
  def entered(attribute: Long, window: Sliding): Unit

  /** No element with a lesser attribute is to come. */
  def punctuate(attribute: Long, window: Sliding): Unit

  /** As it was when it was made. */
  def clear(): Unit
}

/** What a policy can do with its window. */
trait Sliding {

  /** Elements in the window. */
  def size: Int

  /** The slot of the present aggregate; valid until a change. */
  def query(): Int

  /** Drops the oldest element. */
  def evict(): Unit

  /** Drops all elements. */
  def evictAll(): Unit

  /** Gives the window's present aggregate to whoever waits for it. */
  def trigger(): Unit
}

/**
 * A policy by an attribute that must not go back. Elements with the same one are peers.
 * Attributes and extents (a range, a size, a gap) lie below 2^62, so no sum of two overflows.
 */
abstract class OrderedPolicy extends WindowPolicy {
  private[this] var latest = Long.MinValue

  /** Moves the window to where it is when the attribute has come to this. */
  protected def move(attribute: Long, window: Sliding): Unit

  override final def arrive(attribute: Long, window: Sliding): Unit = {
    if (math.abs(attribute) >= OrderedPolicy.Limit || attribute == Long.MinValue) {
      throw new IllegalArgumentException(s"attribute $attribute, which is not below 2^62")
    }
    advance(attribute, window)
  }

  override final def punctuate(attribute: Long, window: Sliding): Unit =
    advance(math.max(attribute, -OrderedPolicy.Limit), window)

  override def clear(): Unit = latest = Long.MinValue

  private def advance(attribute: Long, window: Sliding): Unit = {
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
