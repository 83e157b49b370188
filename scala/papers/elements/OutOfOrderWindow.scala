package io.sash.papers.elements

import io.sash.core.slots.Partials

/**
 * The sliding-window aggregation data type over slots, for elements that arrive in any order. The
 * window keeps its elements in the order of their times. As in an `InOrderWindow`, the owner
 * lifts a value into a slot that the window has opened.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation with Efficient Bulk Evictions and
 * Insertions'', section 2.
 */
abstract class OutOfOrderWindow {

  /** The number of elements in the window. Elements of the same timestamp count as one. */
  def size: Int

  /** The column of the slots that calls return. Opening slots and inserting may replace it. */
  def column: Partials

  /** The timestamp of the oldest element. */
  def oldest: Long

  /** The timestamp of the youngest element. */
  def youngest: Long

  /** Opens the slot for the next element to insert. It is always the same slot. */
  def open(): Int

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

  /** Drops the oldest element. */
  def evict(): Unit

  /** Drops all elements whose timestamps are at most `time`. */
  def bulkEvict(time: Long): Unit

  /** Drops the element of this timestamp. */
  def remove(time: Long): Unit

  /**
   * The slot that holds v0 ⊗ … ⊗ vn-1, or the identity for an empty window; valid until a change.
   */
  def query(): Int

  /**
   * The slot of the aggregate of the elements whose timestamps are in [from, to], or the identity
   * if there are none; valid until a change or the next range query.
   */
  def range(from: Long, to: Long): Int

  /** Empties the window, open slots included, in constant time. The capacity stays. */
  def clear(): Unit
}
