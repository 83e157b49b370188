package io.sash.papers.policy

import io.sash.core.elements.{InOrderWindow, SlotWindow}
import io.sash.core.slots.Partials
import io.sash.papers.elements.OutOfOrderWindow

/** Takes an answer each time a window triggers. */
trait Output {

  /** @param answer the slot that holds the window's aggregate; valid during the call */
  def trigger(answer: Int): Unit
}

/** The calls of a window by a policy that do not depend on how its elements enter. */
trait ByPolicy {

  /**
   * Says that no element with a lesser attribute will come, so windows that end by then trigger.
   * The end of a stream is the punctuation Long.MaxValue.
   */
  def punctuate(attribute: Long): Unit

  /** The number of elements in the window. */
  def size: Int

  /** Empties the window and resets its policy. */
  def clear(): Unit
}

/**
 * A window that slides by a policy. It takes any algorithm and any policy. If the algorithm takes
 * elements in any order, an element's attribute is its time. Such an algorithm keeps elements of
 * one time as one, so a [[CountPolicy]] counts times. [[ValuesByPolicy]] is the same for values.
 * As in the algorithm's own window, an element enters in two steps:
 * {{{
 *   val policy = new TimePolicy(range, slide)
 *   val window = new WindowByPolicy(new TwoStacksLite(column), policy, output)
 *   val slot = window.arrive(timestamp)       // windows that this ends trigger first
 *   column.lift(slot, value)
 *   window.insert()                           // it may trigger, too
 * }}}
 * A call that is refused, as for an attribute that goes back, leaves the window as it was. If the
 * column or the output throws, the evictions and triggers before that stay, and nothing else has
 * changed. Repeat the call: it continues with the step that failed.
 */
final class WindowByPolicy(window: SlotWindow, policy: WindowPolicy, output: Output)
    extends ByPolicy {
  import WindowByPolicy._

  policy.claim()

  private[this] var stage = Settled
  private[this] var attribute = 0L

  private[this] val sliding: MovableWindow = new MovableWindow {
    override def size: Int = window.size
    override def query(): Int = window.query()
    override def evict(): Unit = window.evict()
    override def evictAll(): Unit = window.clear() // no element is open at any event
    override def trigger(): Unit = output.trigger(window.query())
  }

  /** Announces an element with this attribute and returns the slot for its value. */
  def arrive(attribute: Long): Int = {
    requireSettled("arrive()")
    policy.arrive(attribute, sliding)
    val slot = window.open()
    this.attribute = attribute
    stage = Arriving
    slot
  }

  /** Takes the announced element into the window. */
  def insert(): Unit = {
    if (stage == Settled) {
      throw new IllegalStateException("insert() without an element; call arrive()")
    }
    if (stage == Arriving) enter()
    stage = Entering
    policy.entered(attribute, sliding)
    stage = Settled
  }

  private def enter(): Unit = window match {
    case inOrder: InOrderWindow   => inOrder.insert()
    case byTime: OutOfOrderWindow => byTime.insert(attribute)
    case other => throw new IllegalArgumentException(s"${other.getClass} takes no elements")
  }

  /** Drops the announced element, unless it is in the window already. */
  def discard(): Unit = if (stage == Arriving) {
    window.discard()
    stage = Settled
  }

  /** Whether the last element is in the window, and the policy has still to be told so. */
  private[policy] def isEntering: Boolean = stage == Entering

  override def punctuate(attribute: Long): Unit = {
    requireSettled("punctuate()")
    policy.punctuate(attribute, sliding)
  }

  /** The slot of the present aggregate, also between triggers; valid until a change. */
  def query(): Int = window.query()

  override def size: Int = window.size

  def column: Partials = window.column

  override def clear(): Unit = {
    window.clear()
    policy.clear()
    stage = Settled
  }

  private def requireSettled(call: String): Unit =
    if (stage != Settled) {
      throw new IllegalStateException(s"$call before the last element is in; call insert()")
    }
}

private object WindowByPolicy {

  // The stage of the element that came last; Settled when it is in and the policy knows.
  final val Settled = 0
  final val Arriving = 1 // its slot is open
  final val Entering = 2 // it is in the window, and the policy is told so
}
