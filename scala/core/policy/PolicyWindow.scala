package io.sash.core.policy

import io.sash.core.inorder.InOrderWindow
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
 * What is refused (an attribute that goes back) leaves the window as it was.
 */
final class PolicyWindow(window: InOrderWindow, policy: WindowPolicy, output: Output) {
  private[this] var arriving = false
  private[this] var attribute = 0L

  /** An element with this attribute has come. The answer is the slot for its value. */
  def arrive(attribute: Long): Int = {
    requireSettled("arrive()")
    policy.arrive(attribute, this)
    val slot = window.open()
    this.attribute = attribute
    arriving = true
    slot
  }

  /** Takes the element that has come into the window. */
  def insert(): Unit = {
    if (!arriving) throw new IllegalStateException("insert() without an element; call arrive()")
    arriving = false
    window.insert()
    policy.entered(attribute, this)
  }

  /**
   * A punctuation: no element with a lesser attribute is to come, so what waits for one triggers.
   * The end of a stream is the punctuation Long.MaxValue.
   */
  def punctuate(attribute: Long): Unit = {
    requireSettled("punctuate()")
    policy.punctuate(attribute, this)
  }

  /** The slot of the present aggregate, between triggers, too; valid until a change. */
  def query(): Int = window.query()

  def size: Int = window.size

  def column: Partials = window.column

  /** Empties the window and lets its policy begin anew. */
  def clear(): Unit = {
    window.clear()
    policy.clear()
    arriving = false
  }

  private[policy] def evict(): Unit = window.evict()

  private[policy] def evictAll(): Unit = while (window.size > 0) window.evict()

  private[policy] def trigger(): Unit = output.trigger(window.query())

  private def requireSettled(call: String): Unit =
    if (arriving) {
      throw new IllegalStateException(s"$call before the last element is in; call insert()")
    }
}
