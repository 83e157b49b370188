package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.frames.{Exclusion, Frame, RangeKeys, Slide}
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

  /** Writes the results of the slot that answers. */
  def lower(slot: Int, out: InternalRow): Unit = columns.lower(slot, out)

  def columns: SlotColumns = window.column.asInstanceOf[SlotColumns]
}

/**
 * One frame over rows of Spark's: lifts each row that arrives into the frame's windows, and its
 * keys where rows are compared, and lowers the answers.
 *
 * @param exclusion null where nothing is left out of the frame
 * @param slide null where every row has an answer
 * @param groups those whose answers are asked for first
 * @param answered how many they are
 * @param results ordinals of the answers
 * @param keys by which the frame, the exclusion and the slide compare rows
 */
private[spark] final class SlidingFrame(
    frame: Frame,
    exclusion: Exclusion,
    slide: Slide,
    groups: Array[WindowGroup],
    answered: Int,
    results: Array[Int],
    keys: Array[RangeKeys]
) {
  private[this] val keysVary = keys.map(column(_).varies)

  def startPartition(): Unit = {
    frame.clear()
    if (exclusion != null) exclusion.clear()
    if (slide != null) slide.clear()
  }

  /** A row has arrived. */
  def arrive(row: InternalRow): Unit = {
    var i = 0
    while (i < groups.length) {
      groups(i).lift(row)
      i += 1
    }
    i = 0
    while (i < keys.length) {
      liftKey(i, row)
      i += 1
    }
  }

  private def liftKey(i: Int, row: InternalRow): Unit = {
    val slot = keys(i).open()
    column(keys(i)).lift(slot, row)
    if (keysVary(i) && !column(keys(i)).fits()) page(keys(i))
  }

  /** Moves the frame to row `current`: see [[Frame.moveTo]]. */
  def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val complete = frame.moveTo(current, arrived, ended)
    if (complete && exclusion != null) exclusion.moveTo(current, frame)
    complete
  }

  /** Writes the aggregates of the frame for row `current`, to which it has moved. */
  def lower(current: Long, out: InternalRow): Unit =
    if (slide == null || slide.isAt(current)) lower(out)
    else results.foreach(out.setNullAt)

  private def lower(out: InternalRow): Unit = {
    var i = 0
    while (i < answered) {
      val window = groups(i).window
      val slot = if (exclusion == null) frame.query(window) else exclusion.query(frame, window)
      groups(i).lower(slot, out)
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
    keys.foreach(page)
  }

  private def page(keys: RangeKeys): Unit = keys.relocate(_.asInstanceOf[SlotColumns].page())

  private def column(keys: RangeKeys): SlotColumns = keys.column.asInstanceOf[SlotColumns]
}
