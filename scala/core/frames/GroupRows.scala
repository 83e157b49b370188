package io.sash.core.frames

import io.sash.core.slots.LongQueue

/**
 * Rows with bounds that count groups of peers from the current row's group: see `Rows.groups`.
 *
 * @param rows the rows, compared for equality only
 */
private[frames] final class GroupRows(rows: Rows, lower: Long, upper: Long) extends Rows {

  /** The group number, from 0, of each of the rows [oldest, numbered). */
  private[this] val numbers = new LongQueue
  private[this] var oldest = 0L
  private[this] var numbered = 0L

  // the last current row, and its group
  private[this] var lastOf = -1L
  private[this] var lastGroup = 0L

  override def isAbove(row: Long, current: Long): Boolean = {
    while (numbered <= math.max(row, current)) number()
    groupOf(row) - groupOfCurrent(current) > upper
  }

  override def isBelow(row: Long, current: Long): Boolean =
    groupOf(row) - groupOfCurrent(current) < lower

  override def arePeers(row: Long, other: Long): Boolean = groupOf(row) == groupOf(other)

  override def isUnboundedBelow: Boolean = lower == Long.MinValue

  override def isUpToPeers: Boolean = upper == 0L

  override def firstNotBelow(current: Long, from: Long, until: Long): Long = {
    var row = from
    while (row < until && isBelow(row, current)) row += 1
    row
  }

  override def groups(lower: Long, upper: Long): Rows = rows.groups(lower, upper)

  override def forgetBefore(row: Long): Unit = while (oldest < row) {
    numbers.remove()
    oldest += 1
  }

  private def groupOfCurrent(current: Long): Long = {
    if (current != lastOf) {
      lastOf = current
      lastGroup = groupOf(current)
    }
    lastGroup
  }

  override def clear(): Unit = {
    lastOf = -1L
    rows.clear()
    numbers.clear()
    oldest = 0L
    numbered = 0L
  }

  // rows are numbered one by one, as they come
  private def number(): Unit = {
    val group =
      if (numbered == 0) 0L
      else groupOf(numbered - 1) + (if (rows.arePeers(numbered - 1, numbered)) 0 else 1)
    numbers.add(group)
    rows.forgetBefore(numbered)
    numbered += 1
  }

  private def groupOf(row: Long): Long = numbers((row - oldest).toInt)
}
