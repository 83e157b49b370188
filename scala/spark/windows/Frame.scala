package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.inorder.InOrderWindow
import io.sash.spark.slots.SlotColumns

/** Aggregates that share a window: the results of one algorithm over one class of slots. */
private[spark] final class WindowGroup(val window: InOrderWindow) {
  def lift(row: InternalRow): Unit = {
    val slot = window.open()
    columns.lift(slot, row)
  }

  def lower(out: InternalRow): Unit = {
    val slot = window.query()
    columns.lower(slot, out)
  }

  def columns: SlotColumns = window.column.asInstanceOf[SlotColumns]
}

/**
 * One frame of a window specification, moving over the rows of a partition. Rows arrive in
 * order and are numbered from 0; the operator asks for the frame of row 0, 1, 2, …
 *
 * Invariant: `evicted` <= `entered` <= rows arrived. Rows [evicted, entered) are in the frame,
 * later ones have been lifted and wait in open slots.
 */
private[spark] abstract class Frame(groups: Array[WindowGroup]) {
  protected[this] var entered = 0L
  protected[this] var evicted = 0L

  var evictions = 0L
  var peakRows = 0L

  def startPartition(): Unit = {
    entered = 0L
    evicted = 0L
    var i = 0
    while (i < groups.length) {
      groups(i).window.clear()
      i += 1
    }
  }

  /** A row has arrived. */
  def arrive(row: InternalRow): Unit = {
    var i = 0
    while (i < groups.length) {
      groups(i).lift(row)
      i += 1
    }
  }

  /**
   * Moves the frame to row `current`.
   *
   * @param arrived number of rows that have arrived
   * @param ended whether these are all rows of the partition
   * @return false if rows that have yet to arrive may belong to the frame
   */
  def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean

  /** Writes the aggregates of the frame. */
  final def lower(out: InternalRow): Unit = {
    var i = 0
    while (i < groups.length) {
      groups(i).lower(out)
      i += 1
    }
  }

  /** Calls of combine, subtract and selectsRight. */
  final def operations: Long = groups.map(_.columns.operations).sum

  /** Moves all that the frame holds to disk. */
  def page(): Unit = groups.foreach(_.window.relocate(_.asInstanceOf[SlotColumns].page()))

  protected final def enter(): Unit = {
    var i = 0
    while (i < groups.length) {
      groups(i).window.insert()
      i += 1
    }
    entered += 1
    if (entered - evicted > peakRows) peakRows = entered - evicted
  }

  protected final def leave(): Unit = {
    var i = 0
    while (i < groups.length) {
      groups(i).window.evict()
      i += 1
    }
    evicted += 1
    evictions += 1
  }
}

/**
 * ROWS BETWEEN lower AND upper, as offsets from the current row.
 *
 * @param upper Long.MaxValue for UNBOUNDED FOLLOWING
 */
private[spark] final class RowsFrame(groups: Array[WindowGroup], lower: Long, upper: Long)
    extends Frame(groups) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val last = if (upper == Long.MaxValue) upper else current + upper
    while (entered < arrived && entered <= last) enter()
    if (entered <= last && !ended) {
      false
    } else {
      while (evicted < entered && evicted < current + lower) leave()
      true
    }
  }
}

/**
 * RANGE BETWEEN lower AND upper. The order keys of the rows that the bounds still need live in
 * slots: keys of rows [kept, arrived) in a ring, and the two bounds of the current row.
 */
private[spark] final class RangeFrame(
    groups: Array[WindowGroup],
    keys: RangeKeys,
    unboundedFollowing: Boolean
) extends Frame(groups) {

  override def startPartition(): Unit = {
    super.startPartition()
    keys.clear()
  }

  override def arrive(row: InternalRow): Unit = {
    super.arrive(row)
    keys.add(row)
  }

  /** The order of steps is that of Spark's own frames: it decides which bounds are evaluated. */
  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    if (unboundedFollowing) {
      while (entered < arrived) enter()
    } else {
      while (entered < arrived && !keys.isAbove(entered, current)) enter()
    }
    if (entered == arrived && !ended) {
      false
    } else {
      while (evicted < entered && keys.isBelow(evicted, current)) leave()
      keys.forgetBefore(math.min(evicted, current))
      true
    }
  }

  override def page(): Unit = {
    super.page()
    keys.page()
  }
}
