package io.sash.spark.streams.program

/** A test of a key's rows: whether windows begin at a row, or whether a window slides there. */
private[spark] sealed abstract class RowTest extends Serializable {

  /** The test in the description of a state. */
  def signature: String

  def isAt(row: CurrentKeyRow): Boolean

  /** Whether each row from now on passes as a key's first row would: see `StreamFrame.isIdle`. */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false
}

/** A slide at each of a number of rows: see `CountSlide`. */
private[spark] final case class EachRows(every: Long) extends RowTest {
  override def signature: String = s"at each row of $every"

  override def isAt(row: CurrentKeyRow): Boolean = row.end % every == 0
}

/**
 * A slide at the first row of each pane: see `PaneSlide`.
 *
 * @param mark the number of the row's pane
 */
private[spark] final case class EachPane(mark: Int) extends RowTest {
  override def signature: String = s"at each pane of bound $mark"

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    last.marks(mark) != now.marks(mark)

  override def isAt(row: CurrentKeyRow): Boolean =
    row.isFirst || row.values(mark) != row.previous(mark)
}

/** The rows at which windows begin. A key's first row always is one, and is not tested. */
private[spark] sealed abstract class StreamBeginning extends RowTest {

  /** A noun in an error. */
  def what: String

  /** Whether the test reads the time of the last row that passed it. */
  def readsLast: Boolean = false
}

/** @param mark 1 in a row that is a punctuation */
private[spark] final case class StreamPunctuation(mark: Int) extends StreamBeginning {
  override def signature: String = s"punctuation at bound $mark"

  override def what: String = "punctuation"

  override def isAt(row: CurrentKeyRow): Boolean = row.values(mark) == 1L
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

  override def signature: String =
    s"session until bound $mark" + earliest.fold("")(e => s" from bound $e")

  override def what: String = "gap"

  override def readsLast: Boolean = earliest.nonEmpty

  override def isAt(row: CurrentKeyRow): Boolean =
    row.time > row.previousTime &&
      (row.time > row.previous(mark) || readsLast && row.lastBegin < row.values(first))

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    last.time < now.time && last.marks(mark) < now.time
}
