package io.sash.core.frames

import io.sash.core.elements.{InOrderWindow, Suffixes}

/**
 * Frames that end at the current row and begin as far back as that row says. A frame may begin
 * earlier than the frame of the previous row, so no row ever leaves. The windows hold all rows of
 * the partition so far and answer for the youngest ([[io.sash.core.elements.Suffixes]]).
 */
sealed abstract class OwnWidthFrame(windows: Array[InOrderWindow], keys: Rows)
    extends Frame(windows, keys) {
  protected[this] var begin = 0L

  override final def first: Long = begin

  private[frames] override final def movesBack: Boolean = true

  override final def query(window: InOrderWindow): Int =
    window.asInstanceOf[Suffixes].query((end - begin).toInt)

  override final def clear(): Unit = {
    super.clear()
    begin = 0L
  }
}

/** ROWS BETWEEN the row's own width PRECEDING AND CURRENT ROW. Cost: the windows' alone. */
final class OwnRowsFrame(windows: Array[InOrderWindow], keys: Rows)
    extends OwnWidthFrame(windows, keys) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    enterTo(current + 1)
    val width = keys.width(current)
    begin = if (width < 0) entered else math.max(0L, current - width)
    keys.forgetBefore(current)
    true
  }
}

/**
 * RANGE BETWEEN the row's own width PRECEDING AND CURRENT ROW, peers included.
 *
 * Cost: at most 2 log m comparisons, and the windows' cost. Here m is the number of rows in this
 * frame or in the frame before it, whichever is longer. Space: n keys besides.
 *
 * @param keys the rows' keys; the lower bound is the key minus the row's width. If their
 *   condition does not hold for a row, it has no width and its frame no rows
 */
final class OwnRangeFrame(windows: Array[InOrderWindow], keys: Rows)
    extends OwnWidthFrame(windows, keys) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val isWhole = moveEnd(current, arrived, ended)
    if (isWhole) begin = firstIn(current, 0L, entered, ofLater = false)
    isWhole
  }

  private[frames] override def moveEnd(
      current: Long,
      arrived: Long,
      ended: Boolean
  ): Boolean = {
    enterNotAbove(current, arrived)
    entered < arrived || ended
  }

  private[frames] override def firstIn(
      current: Long,
      from: Long,
      until: Long,
      ofLater: Boolean
  ): Long =
    if (ofLater) from
    else if (keys.holds(current)) math.max(from, keys.searchNotBelow(current, until))
    else until
}
