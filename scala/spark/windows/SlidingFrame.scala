package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.frames.{Exclusion, Frame, KeyRing, Slide}
import io.sash.core.inorder.InOrderWindow
import io.sash.core.shared.{SharedWindow, SharedWindows}
import io.sash.spark.slots.SlotColumns

/** Aggregates that share a window: the results of one algorithm over one class of slots. */
private[spark] sealed abstract class WindowGroup(val window: InOrderWindow, range: Int) {

  /** A row has arrived. */
  def lift(row: InternalRow): Unit

  /** Moves the slots to disk. */
  def page(): Unit

  /** Calls of combine, subtract and selectsRight. */
  def operations: Long

  /** Over the window number `range` of those that share elements with this one. */
  def sharing(range: Int): WindowGroup

  /** Writes the results of the slot that answers. */
  final def lower(slot: Int, out: InternalRow): Unit = columns.lower(range, slot, out)

  final def columns: SlotColumns = window.column.asInstanceOf[SlotColumns]
}

/** @param windows of which `window` is the first, if others share its elements */
private[spark] final class OwnWindowGroup(
    window: InOrderWindow,
    windows: Option[SharedWindows] = None
) extends WindowGroup(window, range = 0) {
  private[this] val varies = columns.varies

  override def lift(row: InternalRow): Unit = {
    val slot = window.open()
    columns.lift(slot, row)
    if (varies && !columns.fits()) page()
  }

  override def page(): Unit = window.relocate(_.asInstanceOf[SlotColumns].page())

  override def operations: Long = columns.operations

  override def sharing(range: Int): WindowGroup = new SharingWindowGroup(windows.get, range)
}

/** What its first window does for it is not done again. */
private[spark] final class SharingWindowGroup(windows: SharedWindows, range: Int)
    extends WindowGroup(new SharedWindow(windows, range), range) {
  override def lift(row: InternalRow): Unit = ()

  override def page(): Unit = ()

  override def operations: Long = 0L

  override def sharing(range: Int): WindowGroup = new SharingWindowGroup(windows, range)
}

/**
 * One frame over rows of Spark's: lifts each row that arrives into the frame's windows, and lowers
 * the answers.
 *
 * @param exclusion null where nothing is left out of the frame
 * @param slide null where every row has an answer
 * @param groups those whose answers are asked for first
 * @param answered how many they are
 * @param results ordinals of the answers
 */
private[spark] final class SlidingFrame(
    frame: Frame,
    exclusion: Exclusion,
    slide: Slide,
    groups: Array[WindowGroup],
    answered: Int,
    results: Array[Int]
) {

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
  def operations: Long = groups.map(_.operations).sum

  def evictions: Long = frame.evictions

  def peakRows: Long = frame.peakRows

  /** Moves all that the frame holds to disk. */
  def page(): Unit = groups.foreach(_.page())
}

/**
 * All frames of an operator.
 *
 * @param keys by which frames compare rows, several of them by the same ones
 */
private[spark] final class SlidingFrames(frames: Array[SlidingFrame], keys: Array[KeyRing]) {
  private[this] val keysVary = keys.map(column(_).varies)

  def all: Seq[SlidingFrame] = frames.toIndexedSeq

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
    while (i < frames.length) {
      frames(i).arrive(row)
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
    frames.foreach(_.page())
    keys.foreach(page)
  }

  private def page(keys: KeyRing): Unit = keys.relocate(_.asInstanceOf[SlotColumns].page())

  private def column(keys: KeyRing): SlotColumns = keys.column.asInstanceOf[SlotColumns]
}
