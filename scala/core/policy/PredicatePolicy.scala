package io.sash.core.policy

/** A condition on a window, by the slot of its aggregate. */
trait Condition {
  def holds(answer: Int): Boolean
}

/**
 * A window bounded by its own content: when an element has entered, the oldest leave until the
 * condition holds or none is left; then the window triggers. With a condition that holds for
 * every younger part of a window for which it holds (a sum of at most 10 over what is not
 * negative), that is the longest window that ends here and meets it.
 *
 * Cost: amortised at most 3 queries an element, one of them for the trigger. This is the naive
 * enforcement of a slide policy, on any algorithm; AMTA searches its tree for the place instead.
 *
 * Paper: Villalba, Berral, Carrera, ''Constant-Time Sliding Window Framework'', section 3.2.
 */
final class PredicatePolicy(condition: Condition) extends WindowPolicy {

  override def arrive(attribute: Long, window: Sliding): Unit = ()

  override def entered(attribute: Long, window: Sliding): Unit = {
    while (window.size > 0 && !condition.holds(window.query())) window.evict()
    window.trigger()
  }

  override def punctuate(attribute: Long, window: Sliding): Unit = ()

  override def clear(): Unit = ()
}
