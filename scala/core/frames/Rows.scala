package io.sash.core.frames

import java.nio.ByteBuffer

import scala.annotation.unused

import io.sash.core.slots.Bytes

/**
 * The rows among which a frame finds its own rows, with the two bounds of each row. In batch they
 * are keys in a ring ([[RangeKeys]]); on a stream they are elements in a store. Rows are numbered
 * from 0, in the order of the window.
 */
abstract class Rows {

  /** Whether `row` lies above the upper bound of row `current`. */
  def isAbove(row: Long, current: Long): Boolean

  /** Whether `row` lies below the lower bound of row `current`. */
  def isBelow(row: Long, current: Long): Boolean

  /** Whether two rows have equal keys. */
  def arePeers(row: Long, other: Long): Boolean

  /** Whether there is no lower bound. */
  def isUnboundedBelow: Boolean

  /** Whether the upper bound is the current row, peers included. */
  def isUpToPeers: Boolean

  /**
   * The first row of [from, until) that does not lie below the lower bound of row `current`, or
   * `until` if all do. The rows before `until` have entered the frame, and no later call has a
   * smaller `from`.
   */
  def firstNotBelow(current: Long, from: Long, until: Long): Long

  /** `firstNotBelow` from the first row on, for bounds that may move back. */
  def searchNotBelow(current: Long, until: Long): Long = firstNotBelow(current, 0L, until)

  /** Whether the condition that belongs to these rows holds for `row`. */
  def holds(@unused row: Long): Boolean = true

  /** How many rows before the row are in its frame. If negative, its frame has no rows. */
  def width(@unused row: Long): Long = -1L

  /**
   * The same rows with whole groups of peers as bounds, counted from the current row's group.
   *
   * @param lower negative for PRECEDING; Long.MinValue for UNBOUNDED PRECEDING
   * @param upper positive for FOLLOWING; Long.MaxValue for UNBOUNDED FOLLOWING
   */
  def groups(lower: Long, upper: Long): Rows

  /** Notes that rows before `row` are no longer compared. */
  def forgetBefore(row: Long): Unit

  /** Forgets all rows, since another partition begins. */
  def clear(): Unit

  /**
   * Writes the key of a row with which later rows are still compared. In batch there is nothing
   * to write, since rows do not outlive the process.
   */
  def write(@unused row: Long, @unused out: Bytes): Unit = ()

  /** Reads the key of a row, as `write` has left it. */
  def read(@unused row: Long, @unused in: ByteBuffer): Unit = ()
}

/** A condition on the rows [first, end) of a frame, which have entered it. */
trait BoundingCondition {
  def holds(first: Long, end: Long): Boolean
}
