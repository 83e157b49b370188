package io.sash.core.frames

import io.sash.core.elements.{InOrderWindow, Suffixes}

/**
 * Frames that end at the current row and begin as far back as that row says. A frame may begin
 * before the frame of the row before it, so no row ever leaves. The windows hold all rows of the
 * partition so far and answer for the youngest ([[io.sash.core.elements.Suffixes]]).
 */
sealed abstract class OwnWidthFrame(windows: Array[InOrderWindow], keys: RangeKeys)
    extends Frame(windows) {
  protected[this] var begin = 0L

  override final def first: Long = begin

  override private[frames] final def floor: Long = 0L

  override final def query(window: InOrderWindow): Int =
    window.asInstanceOf[Suffixes].query((end - begin).toInt)

  override final def clear(): Unit = {
    super.clear()
    keys.clear()
    begin = 0L
  }
}

/** Says how many rows before its own row a frame begins. */
trait Widths {

  /**
   * The width of the row whose key is in this slot. A negative width gives a frame without rows.
   */
  def at(slot: Int): Long
}

/** ROWS BETWEEN the row's own width PRECEDING AND CURRENT ROW. Cost: the windows' alone. */
final class OwnRowsFrame(windows: Array[InOrderWindow], keys: RangeKeys, widths: Widths)
    extends OwnWidthFrame(windows, keys) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) enter()
    val width = widths.at(keys.slot(current))
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
 * @param keys the rows' keys; the lower bound is the key minus the row's width
 * @param hasWidth tells by a key's slot whether its row has a width; if not, the frame has no
 *   rows
 */
final class OwnRangeFrame(windows: Array[InOrderWindow], keys: RangeKeys, hasWidth: Condition)
    extends OwnWidthFrame(windows, keys) {

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered < arrived && !keys.isAbove(entered, current)) enter()
    if (entered == arrived && !ended) {
      false
    } else {
      val isThere = hasWidth.holds(keys.slot(current))
      begin = if (isThere) keys.firstNotBelow(current, entered) else entered
      true
    }
  }
}
