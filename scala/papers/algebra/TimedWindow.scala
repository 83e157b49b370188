package io.sash.papers.algebra

import java.util.function.BiConsumer

import io.sash.papers.elements.OutOfOrderWindow

/**
 * A sliding window of values that arrive in any order. It keeps them in the order of their times,
 * which may be in any unit. The algorithm's name makes one: `Fiba(Max[Double])`. If the window
 * already has a value at a time, a new value is combined with it from the right. Boxing and
 * allocation are as in [[Window]].
 *
 * Cost: see `Fiba`.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation'' (2023), section 3.1.
 */
final class TimedWindow[
    @specialized(Int, Long, Double) In,
    @specialized(Int, Long, Double) Out
] private[algebra] (over: OutOfOrderWindow, column: Column[In, Out])
    extends ValueWindow[In, Out, OutOfOrderWindow](over) {

  /** Adds a value. If it cannot be lifted, the window stays as it was. */
  def insert(time: Long, in: In): Unit = {
    column.lift(algorithm.open(), in)
    algorithm.insert(time)
  }

  /** Adds several values, whose times never descend. If one cannot be lifted, none is added. */
  def bulkInsert(times: Array[Long], values: Array[In]): Unit = {
    if (times.length != values.length) {
      throw new IllegalArgumentException(
        s"bulkInsert() of ${values.length} values at ${times.length} times"
      )
    }
    val first = algorithm.openBulk(values.length)
    var i = 0
    while (i < values.length) {
      column.lift(first + i, values(i))
      i += 1
    }
    algorithm.bulkInsert(times, times.length)
  }

  /** Drops all values of times up to and including `time`: m values in O(log m). */
  def bulkEvict(time: Long): Unit = algorithm.bulkEvict(time)

  /** Drops the value at this time. If there is none, it throws and changes nothing. */
  def remove(time: Long): Unit = algorithm.remove(time)

  /** The least time in the window. Throws if the window is empty. */
  def oldest: Long = algorithm.oldest

  /** The greatest time in the window. Throws if the window is empty. */
  def youngest: Long = algorithm.youngest

  /** The answer over the window's values, by ascending time. */
  def query(): Out = column.lower(algorithm.query())

  /** The answer over the values whose times are in [from, to]. */
  def range(from: Long, to: Long): Out = column.lower(algorithm.range(from, to))

  /** Visits each time, from the oldest, and the answer over the values of that time alone. */
  def foreach(visit: BiConsumer[Long, Out]): Unit =
    algorithm.foreach((time, slot) => visit.accept(time, column.lower(slot)))
}
