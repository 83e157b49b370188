package io.sash.papers.policy

import java.util.function.Consumer

import io.sash.core.elements.SlotWindow
import io.sash.papers.algebra.{Column, ValueWindow}

/**
 * A window of values that slides by a policy: any window, and any policy.
 * {{{
 * val pairs = mutable.Buffer.empty[Long]
 * val policy = new CountPolicy(size = 2, slide = 2)
 * val slides = new ValuesByPolicy(TwoStacksLite(Sum[Long]), policy, (sum: Long) => pairs += sum)
 * Seq(3L, 1L, 4L, 1L).foreach(slides.insert(0L, _))
 * pairs == Seq(4L, 5L)
 * }}}
 * The output gets an answer each time the window triggers. If a value cannot be lifted, or its
 * insertion fails, the value does not enter; evictions and triggers before that stay. If the
 * output throws, repeat the call: it continues with the answer that failed. A policy that asks
 * for aggregates, as a [[PredicatePolicy]] does, gets slots, and `window.answer(slot)` is the
 * answer in a slot.
 *
 * Cost: the window's and the policy's. The output boxes primitives.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', sections 2.1 to 2.3.
 */
final class ValuesByPolicy[In, Out](
    window: ValueWindow[In, Out, _ <: SlotWindow],
    policy: WindowPolicy,
    output: Consumer[Out]
) extends ByPolicy {

  /** The window's column. A column of values never moves, so this stays the right one. */
  private[this] val column = window.algorithm.column.asInstanceOf[Column[In, Out]]

  private[this] val slots =
    new WindowByPolicy(window.algorithm, policy, slot => output.accept(column.lower(slot)))

  /** The value that is in the window, while an answer after it has still to be given. */
  private[this] var entering: Option[(Long, In)] = None

  /** Takes a value with its attribute. Windows that end before it trigger first. */
  def insert(attribute: Long, in: In): Unit = {
    if (entering.exists(_ != ((attribute, in)))) {
      throw new IllegalStateException(
        "insert() of another value, before the output has taken an answer; repeat the last call"
      )
    }
    try {
      if (!slots.isEntering) column.lift(slots.arrive(attribute), in)
      slots.insert()
    } finally {
      slots.discard()
      entering = Option.when(slots.isEntering)((attribute, in))
    }
  }

  override def punctuate(attribute: Long): Unit = slots.punctuate(attribute)

  override def size: Int = slots.size

  override def clear(): Unit = {
    slots.clear()
    entering = None
  }
}
