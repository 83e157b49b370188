package io.sash.papers.policy

/** A condition on a window, tested on the slot of its aggregate. */
trait Condition {
  def holds(answer: Int): Boolean
}
