package io.sash.core.elements

import io.sash.core.slots.Partials

/**
 * The sliding-window aggregation data type over slots, for arrival in any order: elements are kept
 * in the order of their times. As an [[InOrderWindow]] has it, a value is lifted into a slot that
 * the window has opened.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation with Efficient Bulk Evictions and
 * Insertions'', section 2.
 */
abstract class OutOfOrderWindow {

  /** Elements in the window; those of one timestamp are one. */
  def size: Int

  /** The column whose slots are answered; it may change when slots are opened and at inserts. */
  def column: Partials

  /** The timestamp of the oldest element. */
  def oldest: Long

  /** The timestamp of the youngest element. */
  def youngest: Long

  /** Opens the slot for the next element to insert, always the same one. */
  def open(): Int

  /** Takes the element in the open slot into the window. */
  def insert(time: Long): Unit

  /** Opens `count` adjacent slots, of which it answers the first, in place of those open so far. */
  def openBulk(count: Int): Int

  /** Takes the elements in the first `count` open slots, of ascending times, into the window. */
  def bulkInsert(times: Array[Long], count: Int): Unit

  /** Drops the oldest element. */
  def evict(): Unit

  /** Drops all elements of timestamps up to and including `time`. */
  def bulkEvict(time: Long): Unit

  /** Drops the element of this timestamp. */
  def remove(time: Long): Unit

  /** The slot that holds v0 ⊗ … ⊗ vn-1, the identity for an empty window; valid until a change. */
  def query(): Int

  /**
   * The slot of the aggregate of the elements whose timestamps are in [from, to], the identity if
   * there are none; valid until a change or the next range query.
   */
  def range(from: Long, to: Long): Int

  /** Empties the window, open slots included, in constant time; capacity is kept. */
  def clear(): Unit
}
