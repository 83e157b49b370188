package io.sash.core.policy

/**
 * Decides when a window slides: which of the oldest elements leave when one arrives, and when the
 * window ''triggers'', that is, has an answer for whoever waits for it. A policy sees of an
 * element only its ''attribute'', a timestamp, say, and keeps no more of it than it needs; a
 * policy that does not look at it takes any. A policy belongs to one window.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', sections 2.1 to 2.3: window size and
 * slide by time, count, delta or punctuation; the events insert, evict and trigger.
 */
abstract class WindowPolicy {

  /** An element is about to enter: moves the window, or refuses and leaves it as it was. */
  private[policy] def arrive(attribute: Long, window: PolicyWindow): Unit

  /** The element has entered. */
  private[policy] def entered(attribute: Long, window: PolicyWindow): Unit

  /** No element with a lesser attribute is to come. */
  private[policy] def punctuate(attribute: Long, window: PolicyWindow): Unit

  /** As it was when it was made. */
  private[policy] def clear(): Unit
}

/**
 * A policy by an attribute that must not go back. Elements with the same one are peers.
 * Attributes and extents (a range, a size, a gap) lie below 2^62, so no sum of two overflows.
 */
abstract class OrderedPolicy extends WindowPolicy {
  private[this] var latest = Long.MinValue

  /** Moves the window to where it is when the attribute has come to this. */
  private[policy] def move(attribute: Long, window: PolicyWindow): Unit

  override private[policy] final def arrive(attribute: Long, window: PolicyWindow): Unit = {
    if (math.abs(attribute) >= OrderedPolicy.Limit || attribute == Long.MinValue) {
      throw new IllegalArgumentException(s"attribute $attribute, which is not below 2^62")
    }
    advance(attribute, window)
  }

  override private[policy] final def punctuate(attribute: Long, window: PolicyWindow): Unit =
    advance(math.max(attribute, -OrderedPolicy.Limit), window)

  override private[policy] def clear(): Unit = latest = Long.MinValue

  private def advance(attribute: Long, window: PolicyWindow): Unit = {
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
