package io.sash.papers.algebra

import io.sash.core.elements.{InOrderWindow, SlotWindow}

/**
 * A window of values: a [[Window]] or a [[TimedWindow]]. If a function of the aggregation throws,
 * the window is as it was before the call.
 *
 * @param algorithm the algorithm, for the calls that only some algorithms have. Its slots belong
 *   to this window: `open` and `insert` are not for other callers
 */
abstract class ValueWindow[In, Out, +A <: SlotWindow] private[algebra] (val algorithm: A) {
  private[this] var opened = false

  /** Drops the oldest value. On an empty window it throws and changes nothing. */
  final def evict(): Unit = algorithm.evict()

  /** The number of values in the window; by time, the number of times. */
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

  protected[this] final def filled(): Unit = opened = false
}

/**
 * A sliding window of values: an algorithm over a column of an aggregation's partials. The
 * algorithm's name makes one: `TwoStacksLite(Max[Double])`. If In and Out are both Int, Long or
 * Double and the aggregation has a primitive column, nothing is boxed. Then nothing is allocated
 * either, except when the window outgrows its capacity.
 *
 * The window's other abilities are the traits of its algorithm, which the type names:
 * `BulkEviction`, `PolicyEviction`, `Removing`, `Suffixes` and `Stretches` (ranges), `Elements`
 * (iteration). Their calls are on `algorithm`, and `answer` turns the slots that they return into
 * answers:
 * {{{
 * val window = BaseIntervals(Sum[Long])
 * Seq(3L, 1L, 4L, 1L).foreach(window.insert)
 * window.answer(window.algorithm.range(1, 3)) == 5L
 * }}}
 * Cost: see the algorithm.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 2.1.
 */
final class Window[
    @specialized(Int, Long, Double) In,
    @specialized(Int, Long, Double) Out,
    +A <: InOrderWindow
] private[algebra] (over: A, column: Column[In, Out])
    extends ValueWindow[In, Out, A](over) {

  /** Adds the newest value. If it cannot be lifted, the window stays as it was. */
  def insert(in: In): Unit = {
    column.lift(slotToFill(), in)
    algorithm.insert()
    filled()
  }

  /** The answer over the window's values, oldest first. */
  def query(): Out = column.lower(algorithm.query())

  /** The answer in a slot that a call of `algorithm` has returned. */
  def answer(slot: Int): Out = column.lower(slot)
}
