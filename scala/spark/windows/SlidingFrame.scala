package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.frames.{Frame, RangeKeys}
import io.sash.core.inorder.InOrderWindow
import io.sash.spark.slots.SlotColumns

/** Aggregates that share a window: the results of one algorithm over one class of slots. */
private[spark] final class WindowGroup(val window: InOrderWindow) {
  private[this] val varies = columns.varies

  def lift(row: InternalRow): Unit = {
    val slot = window.open()
    columns.lift(slot, row)
    if (varies && !columns.fits()) page()
  }

  /** Moves the slots to disk. */
  def page(): Unit = window.relocate(_.asInstanceOf[SlotColumns].page())

  def lower(out: InternalRow): Unit = {
    val slot = window.query()
    columns.lower(slot, out)
  }

  def columns: SlotColumns = window.column.asInstanceOf[SlotColumns]
}

/**
 * One frame over rows of Spark's: lifts each row that arrives into the frame's windows, and its
 * order key where the frame has bounds by key, and lowers the answers.
 *
 * @param groups those whose answers are asked for first
 * @param answered how many they are
 * @param keys null where rows are not compared
 */
private[spark] final class SlidingFrame(
    frame: Frame,
    groups: Array[WindowGroup],
    answered: Int,
    keys: RangeKeys
) {
  private[this] val keysVary = keys != null && keyColumns.varies

  def startPartition(): Unit = frame.clear()

  /** A row has arrived. */
  def arrive(row: InternalRow): Unit = {
    var i = 0
    while (i < groups.length) {
      groups(i).lift(row)
      i += 1
    }
    if (keys != null) liftKey(row)
  }

  private def liftKey(row: InternalRow): Unit = {
    val slot = keys.open()
    keyColumns.lift(slot, row)
    if (keysVary && !keyColumns.fits()) pageKeys()
  }

  /** Moves the frame to row `current`: see [[Frame.moveTo]]. */
  def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean =
    frame.moveTo(current, arrived, ended)

  /** Writes the aggregates of the frame. */
  def lower(out: InternalRow): Unit = {
    var i = 0
    while (i < answered) {
      groups(i).lower(out)
      i += 1
    }
  }

  /** Calls of combine, subtract and selectsRight. */
  def operations: Long = groups.map(_.columns.operations).sum

  def evictions: Long = frame.evictions

  def peakRows: Long = frame.peakRows

  /** Moves all that the frame holds to disk. */
  def page(): Unit = {
    groups.foreach(_.page())
    if (keys != null) pageKeys()
  }

  private def pageKeys(): Unit = keys.relocate(_.asInstanceOf[SlotColumns].page())

  private def keyColumns: SlotColumns = keys.column.asInstanceOf[SlotColumns]
}
