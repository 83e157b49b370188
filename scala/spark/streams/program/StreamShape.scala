package io.sash.spark.streams.program

import io.sash.core.stored.TreeWindow

/** The rows in a row's window, and the rows that have an answer. */
private[spark] final case class StreamShape(frame: StreamFrame, slide: Option[RowTest]) {

  /** The window in the description of a state. */
  def signature: String = (frame.signature +: slide.map(_.signature).toSeq).mkString(" ")

  private[this] lazy val owns = frame.owns.toArray

  /** The slot with the aggregate of the window's rows that are within the row's own widths. */
  def query(window: TreeWindow, row: CurrentKeyRow): Int =
    if (owns.isEmpty) window.query()
    else {
      var begin = window.front
      var i = 0
      while (i < owns.length) {
        begin = math.max(begin, owns(i).begin(window, row))
        i += 1
      }
      window.begin()
      window.append(begin, window.back)
      window.answer()
    }

  /** See `StreamFrame.isIdle`. */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    frame.isIdle(last, now) && slide.forall(_.isIdle(last, now))
}
