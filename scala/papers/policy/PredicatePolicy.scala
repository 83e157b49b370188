package io.sash.papers.policy

/**
 * A window bounded by its own content. When an element has entered, the oldest elements leave
 * until the condition holds or none is left. Then the window triggers. Suppose the condition,
 * where it holds for a window, also holds for each younger part of that window. An example is a
 * sum of at most 10 over numbers that are not negative. Then the window is the longest that ends
 * at the element and meets the condition.
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
