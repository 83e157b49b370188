package io.sash.spark.streams.program

/** The rows at which a window slides; all other rows have no answer. */
private[spark] sealed abstract class StreamSlide extends Serializable {

  /** The slide in the description of a state. */
  def words: String

  def isAt(row: CurrentKeyRow): Boolean

  /** Whether each row from now on slides as a key's first row would: see `StreamFrame.isIdle`. */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false
}

/** See `CountSlide`. */
private[spark] final case class StreamCountSlide(every: Long) extends StreamSlide {
  override def words: String = s"at each row of $every"

  override def isAt(row: CurrentKeyRow): Boolean = row.end % every == 0
}

/**
 * See `PaneSlide`.
 *
 * @param mark the number of the row's pane
 */
private[spark] final case class StreamPaneSlide(mark: Int) extends StreamSlide {
  override def words: String = s"at each pane of bound $mark"

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    last.marks(mark) != now.marks(mark)

  override def isAt(row: CurrentKeyRow): Boolean =
    row.isFirst || row.values(mark) != row.previous(mark)
}
