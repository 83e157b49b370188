package io.sash.core.policy

/**
 * From one punctuation to the next: a punctuation makes a window that is not empty trigger, and
 * then all that came before it leaves.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2.
 */
final class PunctuationPolicy extends WindowPolicy {

  override def arrive(attribute: Long, window: Sliding): Unit = ()

  override def entered(attribute: Long, window: Sliding): Unit = ()

  override def punctuate(attribute: Long, window: Sliding): Unit =
    if (window.size > 0) {
      window.trigger()
      window.evictAll()
    }

  override def clear(): Unit = ()
}
