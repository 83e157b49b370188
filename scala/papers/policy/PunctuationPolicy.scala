package io.sash.papers.policy

/**
 * A window from one punctuation to the next. A punctuation triggers the window if it is not
 * empty, and then all its elements leave.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2.
 */
final class PunctuationPolicy extends WindowPolicy {

  override def punctuate(attribute: Long, window: MovableWindow): Unit =
    if (window.size > 0) {
      window.trigger()
      window.evictAll()
    }
}
