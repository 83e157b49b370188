package io.sash.papers.policy

/**
 * Sessions: each element of a session comes less than `gap` after the element before it. A
 * session triggers when an element or a punctuation shows that it is over. Then all its elements
 * leave.
 */
final class SessionPolicy(gap: Long) extends OrderedPolicy {
  OrderedPolicy.requireExtent("gap", gap, least = 1)

  private[this] var youngest = 0L

  override protected def move(time: Long, window: MovableWindow): Unit =
    if (window.size > 0 && time >= youngest + gap) {
      window.trigger()
      window.evictAll()
    }

  override def entered(time: Long, window: MovableWindow): Unit = youngest = time
}
