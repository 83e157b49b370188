package io.sash.spark.streams.program

import io.sash.core.stored.TreeWindow

/**
 * The rows in a row's window, and the rows that have an answer.
 *
 * @param exclude the rows of the window that its answer leaves out
 */
private[spark] final case class StreamShape(
    frame: StreamFrame,
    slide: Option[RowTest],
    exclude: Option[StreamExclusion] = None
) {

  /** The window in the description of a state. */
  def signature: String =
    (frame.signature +: (slide.map(_.signature) ++ exclude.map(_.signature)).toSeq).mkString(" ")

  /** Whether peers have answers of different rows. */
  def differsWithinPeers: Boolean =
    frame.movesWithinPeers || exclude.exists(e => !e.ofPeers || e.keepsRow)

  private[this] lazy val owns = frame.owns.toArray
  private[this] lazy val isWhole = owns.isEmpty && exclude.isEmpty

  /** The slot with the aggregate of the window's rows that count for a row. */
  def query(window: TreeWindow, row: CurrentKeyRow): Int =
    if (isWhole) window.query()
    else {
      val begin = beginOf(window, row)
      window.begin()
      if (exclude.isEmpty) window.append(begin, window.back)
      else exclude.get.append(window, begin, row)
      window.answer()
    }

  /** The first position of the window that is as near as the row's own widths. */
  private def beginOf(window: TreeWindow, row: CurrentKeyRow): Long = {
    var begin = window.front
    var i = 0
    while (i < owns.length) {
      begin = math.max(begin, owns(i).begin(window, row))
      i += 1
    }
    begin
  }

  /** See `StreamFrame.isIdle`. */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    frame.isIdle(last, now) && slide.forall(_.isIdle(last, now))
}

/**
 * EXCLUDE CURRENT ROW, GROUP or TIES: see `Exclusion`.
 *
 * @param ofPeers whether the row's peers are excluded
 * @param keepsRow whether the row itself stays
 */
private[spark] final case class StreamExclusion(ofPeers: Boolean, keepsRow: Boolean) {
  def signature: String =
    if (!ofPeers) "without the row" else if (keepsRow) "without ties" else "without peers"

  /** Appends the window's rows from `begin` on, but for those that are excluded. */
  def append(window: TreeWindow, begin: Long, row: CurrentKeyRow): Unit = {
    def add(from: Long, until: Long) =
      window.append(math.max(begin, from), math.min(window.back, until))
    val at = row.end - 1
    add(begin, if (ofPeers) row.firstPeer else at)
    if (keepsRow) add(at, at + 1)
    add(if (ofPeers) row.lastPeer else at + 1, window.back)
  }
}
