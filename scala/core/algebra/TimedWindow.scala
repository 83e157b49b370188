package io.sash.core.algebra

import io.sash.core.elements.OutOfOrderWindow

/** What a window of values by time can do without knowing their types. */
sealed abstract class AnyTimedWindow private[algebra] (tree: OutOfOrderWindow) {

  /** Drops the oldest value; fails on an empty window and leaves it as it was. */
  final def evict(): Unit = tree.evict()

  /** Drops all values of times up to and including `time`, however many, in O(log of them). */
  final def bulkEvict(time: Long): Unit = tree.bulkEvict(time)

  /** Drops the value at this time; fails where there is none and leaves the window as it was. */
  final def remove(time: Long): Unit = tree.remove(time)

  /** Times in the window. */
  final def size: Int = tree.size

  /** The least time in the window; fails on an empty one. */
  final def oldest: Long = tree.oldest

  /** The greatest time in the window; fails on an empty one. */
  final def youngest: Long = tree.youngest

  /** Empties the window; capacity is kept. */
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
 * A sliding window of values that arrive in any order and are kept in that of their times, which
 * may be in any unit. It is made by the algorithm's name: `Fiba(Max[Double])`. A value at a time
 * that the window has already is combined with the one that is there, from the right. Boxing and
 * allocation are as [[Window]]'s.
 *
 * Cost: that of [[io.sash.core.fiba.Fiba]].
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

  /** Adds values at once, whose times ascend. If one cannot be lifted, none is added. */
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
