package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * The rows that are in the frames of all parts, or from the first row of any part until the last
 * row of any. If neither bound of a part ever moves back, this frame's do not either.
 *
 * Cost: the moves of all parts, and the windows' cost.
 *
 * @param parts frames without windows of their own, of the same rows
 * @param ofAll whether a row has to be in all parts
 */
final class JoinedFrame(windows: Array[InOrderWindow], parts: Array[Frame], ofAll: Boolean)
    extends Frame(windows) {

  override def clear(): Unit = {
    super.clear()
    parts.foreach(_.clear())
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    var isWhole = parts(0).moveTo(current, arrived, ended)
    var begin = parts(0).first
    var until = parts(0).end
    var i = 1
    while (i < parts.length) {
      val part = parts(i)
      isWhole &= part.moveTo(current, arrived, ended)
      if (ofAll) {
        begin = math.max(begin, part.first)
        until = math.min(until, part.end)
      } else {
        begin = math.min(begin, part.first)
        until = math.max(until, part.end)
      }
      i += 1
    }
    if (isWhole) {
      while (entered < until) enter()
      while (evicted < begin && evicted < entered) leave()
    }
    isWhole
  }
}
