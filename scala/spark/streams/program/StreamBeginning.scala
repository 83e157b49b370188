package io.sash.spark.streams.program

/** The rows at which windows begin: the first row after a gap, or a punctuation. */
private[spark] sealed abstract class StreamBeginning extends Serializable {

  /** The beginning in the description of a state. */
  def words: String

  /** A noun in an error. */
  def what: String

  /**
   * Whether a row after the key's first is one. The first row always is.
   *
   * @param last the time of the last row that was one
   */
  def isAt(row: CurrentKeyRow, last: Long): Boolean

  /** Whether `isAt` reads the time of the last one. */
  def readsLast: Boolean = false

  /** See `StreamFrame.isIdle`. */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean
}

/** @param mark 1 in a row that is a punctuation */
private[spark] final case class StreamPunctuation(mark: Int) extends StreamBeginning {
  override def words: String = s"punctuation at bound $mark"

  override def what: String = "punctuation"

  override def isAt(row: CurrentKeyRow, last: Long): Boolean =
    row.values(mark) == 1L

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false
}

/**
 * The first row of a session.
 *
 * @param mark the last time that is not behind the gap after a row
 * @param earliest the mark of the earliest time at which a session of the row may have begun
 */
private[spark] final case class StreamSession(mark: Int, earliest: Option[Int])
    extends StreamBeginning {
  private[this] val first = earliest.getOrElse(-1)

  override def words: String =
    s"session until bound $mark" + earliest.fold("")(e => s" from bound $e")

  override def what: String = "gap"

  override def readsLast: Boolean = earliest.nonEmpty

  override def isAt(row: CurrentKeyRow, last: Long): Boolean =
    row.time > row.previousTime &&
      (row.time > row.previous(mark) || readsLast && last < row.values(first))

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    last.time < now.time && last.marks(mark) < now.time
}
