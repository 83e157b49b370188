package io.sash.spark.windows

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.elements.InOrderWindow
import io.sash.core.frames.{Exclusion, Frame, KeyRing, Slide}
import io.sash.spark.slots.SlotColumns

/**
 * A store of elements, and the windows over them. The windows belong to one frame, or to several
 * frames that end together. In the second case, elements enter through the first window for all.
 */
private[spark] final class ElementStore(val windows: Array[InOrderWindow]) {
  private[this] val first = windows(0)
  private[this] val varies = columns.varies

  /** Whether an answer also depends on the current row itself. */
  val isOfRow: Boolean = columns.isOfRow

  /** Lifts a row that arrives into a new element. */
  def lift(row: InternalRow): Unit = {
    val slot = first.open()
    columns.lift(slot, row)
    if (varies && !columns.fits()) page()
  }

  /** Adds the partial of many rows as one element. */
  def load(cells: Array[Byte]): Unit = {
    val slot = first.open()
    columns.codec.read(columns, slot, ByteBuffer.wrap(cells))
    if (varies && !columns.fits()) page()
  }

  /** Moves the slots to disk. */
  def page(): Unit = first.relocate(_.asInstanceOf[SlotColumns].page())

  def columns: SlotColumns = first.column.asInstanceOf[SlotColumns]
}

/**
 * The aggregates that share a window. They use one algorithm, and one slot has all their cells.
 */
private[spark] final class LoweredWindow(store: ElementStore, range: Int) {
  val window: InOrderWindow = store.windows(range)

  /** Writes the results of a slot that a query returned. */
  def lower(slot: Int, out: InternalRow): Unit = store.columns.lower(range, slot, out)
}

/**
 * One frame over Spark's rows. It moves its windows and writes the answers.
 *
 * @param exclusion null if no row is excluded from the frame
 * @param slide null if every row gets an answer
 * @param groups the windows that move with the frame
 * @param results the ordinals of the answers in the output row
 */
private[spark] final class SlidingFrame(
    frame: Frame,
    exclusion: Exclusion,
    slide: Slide,
    groups: Array[LoweredWindow],
    results: Array[Int]
) {

  /** See [[Frame.omit]]. */
  def omit(rows: Long): Unit = frame.omit(rows)

  def startPartition(): Unit = {
    frame.clear()
    if (exclusion != null) exclusion.clear()
    if (slide != null) slide.clear()
  }

  /** Moves the frame to row `current`: see [[Frame.moveTo]]. */
  def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val complete = frame.moveTo(current, arrived, ended)
    if (complete && exclusion != null) exclusion.moveTo(current, frame)
    if (slide != null) slide.moveTo(current)
    complete
  }

  /** Writes the answers for row `current`, after the frame has moved there. */
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
 * All frames of an operator. A row that arrives is lifted once into each store and key ring.
 *
 * @param frames the frames; if frames share a store, the longest comes first
 * @param keys the keys by which the frames compare rows
 */
private[spark] final class SlidingFrames(
    frames: Array[SlidingFrame],
    stores: Array[ElementStore],
    keys: Array[KeyRing]
) {
  private[this] val keysVary = keys.map(column(_).varies)
  private[this] val ofRow = stores.filter(_.isOfRow)

  /** The number of calls of combine, subtract and selectsRight. */
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

  /** Lifts a row that arrives into all stores and key rings. */
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

  /** Adds a total of many rows as one element of each store, with the key of its last row. */
  def arrive(total: Total): Unit = {
    stores.indices.foreach(i => stores(i).load(total.cells(i)))
    keys.indices.foreach(liftKey(_, total.last))
  }

  /** Says that the element that arrived last stands for more rows: see [[Frame.omit]]. */
  def omit(rows: Long): Unit = frames.foreach(_.omit(rows))

  private def liftKey(i: Int, row: InternalRow): Unit = {
    val slot = keys(i).open()
    column(keys(i)).lift(slot, row)
    if (keysVary(i) && !column(keys(i)).fits()) page(keys(i))
  }

  /** Moves all frames to row `current`. Returns false if a frame is not complete. */
  def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    var complete = true
    var i = 0
    while (i < frames.length) {
      if (!frames(i).moveTo(current, arrived, ended)) complete = false
      i += 1
    }
    complete
  }

  /**
   * Writes the answers for a row, after all frames have moved there.
   *
   * @param current the row's number in the partition
   */
  def lower(row: InternalRow, current: Long, out: InternalRow): Unit = {
    var i = 0
    while (i < ofRow.length) {
      ofRow(i).columns.answersFor(row)
      i += 1
    }
    i = 0
    while (i < frames.length) {
      frames(i).lower(current, out)
      i += 1
    }
  }

  /** Moves all elements and keys to disk. */
  def page(): Unit = {
    stores.foreach(_.page())
    keys.foreach(page)
  }

  private def page(keys: KeyRing): Unit = keys.relocate(_.asInstanceOf[SlotColumns].page())

  private def column(keys: KeyRing): SlotColumns = keys.column.asInstanceOf[SlotColumns]
}
