package io.sash.core.frames

import io.sash.core.elements.{InOrderWindow, Stretches}

/**
 * The rows that are in the frames of all parts, or from the first row of any part until the last
 * row of any. If neither bound of a part ever moves back, this frame's do not either.
 *
 * Otherwise the windows hold the rows that a later frame may begin with, and answer for some of
 * them ([[io.sash.core.elements.Stretches]]). The parts whose bounds move forwards say which.
 *
 * Cost: the moves of all parts, and the windows' cost.
 *
 * @param parts frames without windows of their own, of the same rows
 * @param ofAll whether a row has to be in all parts
 */
final class JoinedFrame(windows: Array[InOrderWindow], parts: Array[Frame], ofAll: Boolean)
    extends Frame(windows) {
  private[this] var begin = 0L // evicted <= begin <= entered

  override def first: Long = begin

  override private[frames] def floor: Long = evicted

  override def query(window: InOrderWindow): Int =
    if (begin == evicted) window.query()
    else {
      val stretches = window.asInstanceOf[Stretches]
      stretches.begin()
      if (begin < end) stretches.append(place(begin), place(end))
      stretches.answer()
    }

  override def clear(): Unit = {
    super.clear()
    parts.foreach(_.clear())
    begin = 0L
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    var isWhole = parts(0).moveTo(current, arrived, ended)
    var from = parts(0).first
    var least = parts(0).floor
    var until = parts(0).end
    var i = 1
    while (i < parts.length) {
      val part = parts(i)
      isWhole &= part.moveTo(current, arrived, ended)
      if (ofAll) {
        from = math.max(from, part.first)
        least = math.max(least, part.floor)
        until = math.min(until, part.end)
      } else {
        from = math.min(from, part.first)
        least = math.min(least, part.floor)
        until = math.max(until, part.end)
      }
      i += 1
    }
    if (isWhole) {
      while (entered < until) enter()
      while (evicted < least && evicted < entered) leave()
      begin = math.max(evicted, math.min(from, entered))
    }
    isWhole
  }
}
