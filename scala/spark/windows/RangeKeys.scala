package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.spark.slots.SlotColumns

/**
 * The order keys of a range frame, in slots: slot 0 and 1 hold the bounds of the current row,
 * the others are a ring of the keys of rows [first, end) of the partition.
 *
 * A bound is computed when it is first compared with, as Spark does, so that an overflow that
 * Spark never meets is not met here.
 *
 * @param lowerShift index of the program's shift that gives the lower bound; -1 for CURRENT ROW
 * @param upperShift likewise
 */
private[spark] final class RangeKeys(initial: SlotColumns, lowerShift: Int, upperShift: Int) {
  private[this] val lowerBound = 0
  private[this] val upperBound = 1
  private[this] var capacity = 16
  private[this] var columns = initial.grow(2 + capacity).asInstanceOf[SlotColumns]
  private[this] var first = 0L
  private[this] var end = 0L
  private[this] var lowerOf = -1L
  private[this] var upperOf = -1L

  def clear(): Unit = {
    first = 0L
    end = 0L
    lowerOf = -1L
    upperOf = -1L
  }

  def add(row: InternalRow): Unit = {
    if (end - first == capacity) doubleCapacity()
    columns.lift(slot(end), row)
    end += 1
  }

  /** Rows before `row` are compared no more. */
  def forgetBefore(row: Long): Unit = first = row

  /** Whether `row` lies above the upper bound of row `current`. */
  def isAbove(row: Long, current: Long): Boolean =
    if (upperShift < 0) {
      columns.compare(slot(row), slot(current)) > 0
    } else {
      if (upperOf != current) {
        columns.shift(upperShift, upperBound, slot(current))
        upperOf = current
      }
      columns.compare(slot(row), upperBound) > 0
    }

  /** Whether `row` lies below the lower bound of row `current`. */
  def isBelow(row: Long, current: Long): Boolean =
    if (lowerShift < 0) {
      columns.compare(slot(row), slot(current)) < 0
    } else {
      if (lowerOf != current) {
        columns.shift(lowerShift, lowerBound, slot(current))
        lowerOf = current
      }
      columns.compare(slot(row), lowerBound) < 0
    }

  def page(): Unit = columns = columns.page()

  private def slot(row: Long): Int = 2 + (row & (capacity - 1)).toInt

  private def doubleCapacity(): Unit = {
    columns = columns.grow(2 + 2 * capacity).asInstanceOf[SlotColumns]
    var row = first
    while (row < end) {
      if ((row & capacity) != 0) columns.copy(slot(row) + capacity, slot(row))
      row += 1
    }
    capacity *= 2
  }
}
