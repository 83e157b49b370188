package io.sash.papers.algebra

import io.sash.core.elements.InOrderWindow

/**
 * The calls of a [[Window]] that do not depend on the types of its values. If a function of the
 * aggregation throws, the window is as it was before the call.
 */
sealed abstract class AnyWindow private[algebra] (algorithm: InOrderWindow) {
  private[this] var opened = false

  /** Drops the oldest value. On an empty window it throws and changes nothing. */
  final def evict(): Unit = algorithm.evict()

  /** The number of values in the window. */
  final def size: Int = algorithm.size

  /** Empties the window. The capacity stays. */
  final def clear(): Unit = {
    algorithm.clear()
    opened = false
  }

  /** Opens a slot. It first drops an open slot whose filling or insertion has failed. */
  protected[this] final def slotToFill(): Int = {
    if (opened) algorithm.discard()
    opened = false
    val slot = algorithm.open()
    opened = true
    slot
  }

  protected[this] final def filled(): Unit = {
    algorithm.insert()
    opened = false
  }

  protected[this] final def answer(): Int = algorithm.query()
}

/**
 * A sliding window of values: an algorithm over a column of an aggregation's partials. The
 * algorithm's name makes one: `TwoStacksLite(Max[Double])`. If In and Out are both Int, Long or
 * Double and the aggregation has a primitive column, nothing is boxed. Then nothing is allocated
 * either, except when the window outgrows its capacity.
 *
 * Cost: see the algorithm.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 2.1.
 */
final class Window[
    @specialized(Int, Long, Double) In,
    @specialized(Int, Long, Double) Out
] private[algebra] (algorithm: InOrderWindow, column: Column[In, Out])
    extends AnyWindow(algorithm) {

  /** Adds the newest value. If it cannot be lifted, the window stays as it was. */
  def insert(in: In): Unit = {
    column.lift(slotToFill(), in)
    filled()
  }

  /** The answer over the window's values, oldest first. */
  def query(): Out = column.lower(answer())
}
