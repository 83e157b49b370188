package io.sash.papers.algebra

import io.sash.papers.elements.OutOfOrderWindow

/** The calls of a [[TimedWindow]] that do not depend on the types of its values. */
sealed abstract class AnyTimedWindow private[algebra] (tree: OutOfOrderWindow) {

  /** Drops the oldest value. On an empty window it throws and changes nothing. */
  final def evict(): Unit = tree.evict()

  /** Drops all values of times up to and including `time`: m values in O(log m). */
  final def bulkEvict(time: Long): Unit = tree.bulkEvict(time)

  /** Drops the value at this time. If there is none, it throws and changes nothing. */
  final def remove(time: Long): Unit = tree.remove(time)

  /** The number of times in the window. */
  final def size: Int = tree.size

  /** The least time in the window. Throws if the window is empty. */
  final def oldest: Long = tree.oldest

  /** The greatest time in the window. Throws if the window is empty. */
  final def youngest: Long = tree.youngest

  /** Empties the window. The capacity stays. */
  final def clear(): Unit = tree.clear()

  protected[this] final def slotToFill(): Int = tree.open()

  protected[this] final def filled(time: Long): Unit = tree.insert(time)

  protected[this] final def slotsToFill(times: Int, values: Int): Int = {
    if (times != values) {
      throw new IllegalArgumentException(s"bulkInsert() of $values values at $times times")
    }
    tree.openBulk(values)
  }

  protected[this] final def filled(times: Array[Long]): Unit =
    tree.bulkInsert(times, times.length)

  protected[this] final def answer(): Int = tree.query()

  protected[this] final def answer(from: Long, to: Long): Int = tree.range(from, to)
}

/**
 * A sliding window of values that arrive in any order. It keeps them in the order of their times,
 * which may be in any unit. The algorithm's name makes one: `Fiba(Max[Double])`. If the window
 * already has a value at a time, a new value is combined with it from the right. Boxing and
 * allocation are as in [[Window]].
 *
 * Cost: see `Fiba`.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation with Efficient Bulk Evictions and
 * Insertions'', section 2.
 */
final class TimedWindow[
    @specialized(Int, Long, Double) In,
    @specialized(Int, Long, Double) Out
] private[algebra] (tree: OutOfOrderWindow, column: Column[In, Out])
    extends AnyTimedWindow(tree) {

  /** Adds a value. If it cannot be lifted, the window stays as it was. */
  def insert(time: Long, in: In): Unit = {
    column.lift(slotToFill(), in)
    filled(time)
  }

  /** Adds several values, whose times never descend. If one cannot be lifted, none is added. */
  def bulkInsert(times: Array[Long], values: Array[In]): Unit = {
    val first = slotsToFill(times.length, values.length)
    var i = 0
    while (i < values.length) {
      column.lift(first + i, values(i))
      i += 1
    }
    filled(times)
  }

  /** The answer over the window's values, by ascending time. */
  def query(): Out = column.lower(answer())

  /** The answer over the values whose times are in [from, to]. */
  def range(from: Long, to: Long): Out = column.lower(answer(from, to))
}
