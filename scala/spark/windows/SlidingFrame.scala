package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.elements.InOrderWindow
import io.sash.core.frames.{Exclusion, Frame, KeyRing, Slide}
import io.sash.spark.slots.SlotColumns

/**
 * Elements, and the windows over them: those of one frame, or of several that end together, of
 * which the first takes elements for all.
 */
private[spark] final class ElementStore(val windows: Array[InOrderWindow]) {
  private[this] val first = windows(0)
  private[this] val varies = columns.varies

  /** A row has arrived. */
  def lift(row: InternalRow): Unit = {
    val slot = first.open()
    columns.lift(slot, row)
    if (varies && !columns.fits()) page()
  }

  /** Moves the slots to disk. */
  def page(): Unit = first.relocate(_.asInstanceOf[SlotColumns].page())

  def columns: SlotColumns = first.column.asInstanceOf[SlotColumns]
}

/** Aggregates that share a window: the results of one algorithm over one class of slots. */
private[spark] final class LoweredWindow(store: ElementStore, range: Int) {
  val window: InOrderWindow = store.windows(range)

  /** Writes the results of the slot that answers. */
  def lower(slot: Int, out: InternalRow): Unit = store.columns.lower(range, slot, out)
}

/**
 * One frame over rows of Spark's: moves its windows, and lowers the answers.
 *
 * @param exclusion null where nothing is left out of the frame
 * @param slide null where every row has an answer
 * @param results ordinals of the answers
 */
private[spark] final class SlidingFrame(
    frame: Frame,
    exclusion: Exclusion,
    slide: Slide,
    groups: Array[LoweredWindow],
    results: Array[Int]
) {

  def startPartition(): Unit = {
    frame.clear()
    if (exclusion != null) exclusion.clear()
    if (slide != null) slide.clear()
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
    else setNull(out)

  private def lower(out: InternalRow): Unit = {
    var i = 0
    while (i < groups.length) {
      val window = groups(i).window
      val slot = if (exclusion == null) frame.query(window) else exclusion.query(frame, window)
      groups(i).lower(slot, out)
      i += 1
    }
  }

  private def setNull(out: InternalRow): Unit = {
    var i = 0
    while (i < results.length) {
      out.setNullAt(results(i))
      i += 1
    }
  }

  def evictions: Long = frame.evictions

  def peakRows: Long = frame.peakRows
}

/**
 * All frames of an operator: lifts each row that arrives into what they have in common.
 *
 * @param frames of those that share elements the longest first
 * @param keys by which frames compare rows
 */
private[spark] final class SlidingFrames(
    frames: Array[SlidingFrame],
    stores: Array[ElementStore],
    keys: Array[KeyRing]
) {
  private[this] val keysVary = keys.map(column(_).varies)

  /** Calls of combine, subtract and selectsRight. */
  def operations: Long = stores.map(_.columns.operations).sum

  def evictions: Long = frames.map(_.evictions).sum

  def peakRows: Long = frames.map(_.peakRows).max

  def startPartition(): Unit = {
    var i = 0
    while (i < frames.length) {
      frames(i).startPartition()
      i += 1
    }
  }

  /** A row has arrived. */
  def arrive(row: InternalRow): Unit = {
    var i = 0
    while (i < stores.length) {
      stores(i).lift(row)
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

  /** Moves all frames to row `current`: false if one of them is not complete. */
  def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    var complete = true
    var i = 0
    while (i < frames.length) {
      if (!frames(i).moveTo(current, arrived, ended)) complete = false
      i += 1
    }
    complete
  }

  /** Writes the aggregates for row `current`, to which all frames have moved. */
  def lower(current: Long, out: InternalRow): Unit = {
    var i = 0
    while (i < frames.length) {
      frames(i).lower(current, out)
      i += 1
    }
  }

  /** Moves all that the frames hold to disk. */
  def page(): Unit = {
    stores.foreach(_.page())
    keys.foreach(page)
  }

  private def page(keys: KeyRing): Unit = keys.relocate(_.asInstanceOf[SlotColumns].page())

  private def column(keys: KeyRing): SlotColumns = keys.column.asInstanceOf[SlotColumns]
}
