package io.sash.papers.elements

import io.sash.core.elements.SlotWindow

/**
 * The sliding-window aggregation data type over slots, for elements that arrive in any order. The
 * window keeps its elements in the order of their times. Elements of the same time count as one.
 * As in an `InOrderWindow`, the owner lifts a value into a slot that the window has opened.
 * `open` always returns the same slot.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation'' (2023), section 3.1.
 */
abstract class OutOfOrderWindow extends SlotWindow with Removing {

  /** The timestamp of the oldest element. */
  def oldest: Long

  /** The timestamp of the youngest element. */
  def youngest: Long

  /** Takes the element in the open slot into the window, at this time. */
  def insert(time: Long): Unit

  /**
   * Opens `count` adjacent slots for a bulk and returns the first. An earlier bulk is dropped.
   */
  def openBulk(count: Int): Int

  /**
   * Takes the elements in the first `count` open slots into the window. Their times never
   * descend.
   */
  def bulkInsert(times: Array[Long], count: Int): Unit

  /** Drops all elements whose timestamps are at most `time`. */
  def bulkEvict(time: Long): Unit

  /**
   * The slot of the aggregate of the elements whose timestamps are in [from, to], or the identity
   * if there are none; valid until a change or the next range query.
   */
  def range(from: Long, to: Long): Int

  /** Visits the time and the slot of each element, from the oldest, without a combine. */
  def foreach(visit: (Long, Int) => Unit): Unit
}
