package io.sash.papers.policy

/**
 * A window bounded by its own content. When an element has entered, the oldest elements leave
 * until the condition holds or none is left. Then the window triggers. It is the longest window
 * that ends at the element and meets the condition, if every suffix of a window that meets it
 * meets it, too. An example is a sum of at most 10 over numbers that are not negative.
 *
 * Cost: amortised at most 3 queries an element, one of them for the trigger. This is the naive
 * enforcement of a slide policy, on any algorithm. AMTA searches its tree for the new front
 * instead.
 *
 * Paper: Villalba, Berral, Carrera, ''Constant-Time Sliding Window Framework'', section 3.2.
 */
final class PredicatePolicy(condition: Condition) extends WindowPolicy {

  override def entered(attribute: Long, window: MovableWindow): Unit = {
    while (window.size > 0 && !condition.holds(window.query())) window.evict()
    window.trigger()
  }
}
