package io.sash.core.frames

import io.sash.core.elements.{InOrderWindow, Stretches}

/**
 * The rows whose keys lie between the current row's own two bounds. Either bound may move back
 * from row to row, so no row ever leaves. The windows hold the rows of the partition and answer
 * for stretches of them ([[io.sash.core.elements.Stretches]]).
 *
 * Cost: at most 4 log m comparisons, and the windows' cost. Here m is the number of rows between
 * the frame's begin and the youngest row that a frame has reached. Space: n keys besides.
 *
 * @param keys the rows' keys, with a bound on either side or on both. If their condition does not
 *   hold for a row, its frame has no rows
 */
final class BoundsFrame(windows: Array[InOrderWindow], keys: RangeKeys)
    extends Frame(windows, keys) {
  private[this] var begin = 0L
  private[this] var until = 0L

  override def first: Long = begin

  private[frames] override def movesBack: Boolean = true

  override def query(window: InOrderWindow): Int = {
    val stretches = window.asInstanceOf[Stretches]
    stretches.begin()
    if (begin < until) stretches.append(place(begin), place(until))
    stretches.answer()
  }

  override def clear(): Unit = {
    super.clear()
    begin = 0L
    until = 0L
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean =
    if (!keys.holds(current)) {
      begin = 0L
      until = 0L
      true
    } else {
      enterNotAbove(current, arrived)
      val isWhole = ended || entered < arrived || keys.isAbove(entered - 1, current)
      if (isWhole) {
        until = keys.searchAbove(current, entered)
        begin = keys.searchNotBelow(current, until)
      }
      isWhole
    }
}
