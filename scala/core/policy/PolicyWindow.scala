package io.sash.core.policy

import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.Partials

/** Takes the answers of a window that triggers. */
trait Output {

  /** @param answer the slot that holds the window's aggregate; valid during the call */
  def trigger(answer: Int): Unit
}

/**
 * A window that slides by a policy: any algorithm, any policy. As in the window itself, an
 * element enters in two steps:
 * {{{
 *   val policy = new TimePolicy(range, slide)
 *   val window = new PolicyWindow(new TwoStacksLite(column), policy, output)
 *   val slot = window.arrive(timestamp)       // windows that this ends trigger first
 *   window.column.lift(slot, value)
 *   window.insert()                           // it may trigger, too
 * }}}
 * What is refused (an attribute that goes back) leaves the window as it was. Where the column or
 * the output throws, what has left or triggered before that stays so, and nothing else has
 * changed: the same call again goes on with the step that failed.
 */
final class PolicyWindow(window: InOrderWindow, policy: WindowPolicy, output: Output) {
  import PolicyWindow._

  private[this] var stage = Settled
  private[this] var attribute = 0L

  private[this] val sliding: Sliding = new Sliding {
    override def size: Int = window.size
    override def query(): Int = window.query()
    override def evict(): Unit = window.evict()
    override def evictAll(): Unit = window.clear() // at no event an element is open
    override def trigger(): Unit = output.trigger(window.query())
  }

  /** An element with this attribute has come. The answer is the slot for its value. */
  def arrive(attribute: Long): Int = {
    requireSettled("arrive()")
    policy.arrive(attribute, sliding)
    val slot = window.open()
    this.attribute = attribute
    stage = Arriving
    slot
  }

  /** Takes the element that has come into the window. */
  def insert(): Unit = {
    if (stage == Settled) {
      throw new IllegalStateException("insert() without an element; call arrive()")
    }
    if (stage == Arriving) window.insert()
    stage = Entering
    policy.entered(attribute, sliding)
    stage = Settled
  }

  /**
   * A punctuation: no element with a lesser attribute is to come, so what waits for one triggers.
   * The end of a stream is the punctuation Long.MaxValue.
   */
  def punctuate(attribute: Long): Unit = {
    requireSettled("punctuate()")
    policy.punctuate(attribute, sliding)
  }

  /** The slot of the present aggregate, between triggers, too; valid until a change. */
  def query(): Int = window.query()

  def size: Int = window.size

  def column: Partials = window.column

  /** Empties the window and lets its policy begin anew. */
  def clear(): Unit = {
    window.clear()
    policy.clear()
    stage = Settled
  }

  private def requireSettled(call: String): Unit =
    if (stage != Settled) {
      throw new IllegalStateException(s"$call before the last element is in; call insert()")
    }
}

private object PolicyWindow {

  // How far the element that came last is.
  final val Settled = 0
  final val Arriving = 1 // its slot is open
  final val Entering = 2 // it is in the window, and the policy is told so
}
