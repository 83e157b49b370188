package io.sash.core.algebra

import io.sash.core.elements.InOrderWindow

/**
 * What a window of values can do without knowing their types. Where a function of the aggregation
 * throws, the window is as it was before the call.
 */
sealed abstract class AnyWindow private[algebra] (algorithm: InOrderWindow) {
  private[this] var opened = false

  /** Drops the oldest value; fails on an empty window and leaves it as it was. */
  final def evict(): Unit = algorithm.evict()

  /** Values in the window. */
  final def size: Int = algorithm.size

  /** Empties the window; capacity is kept. */
  final def clear(): Unit = {
    algorithm.clear()
    opened = false
  }

  /** A slot whose filling or insertion has failed is given back. */
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
 * A sliding window of values: an algorithm over a column of an aggregation's partials. It is made
 * by the algorithm's name: `TwoStacksLite(Max[Double])`. Where In and Out are both Int, Long or
 * Double and the aggregation has a primitive column, nothing is boxed, and nothing is allocated
 * but when the window outgrows its capacity.
 *
 * Cost: that of the algorithm.
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
