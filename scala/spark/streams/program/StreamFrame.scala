package io.sash.spark.streams.program

import io.sash.core.policy.Condition
import io.sash.core.stored.TreeWindow

/** Which rows a row's window holds, and which rows have an answer. */
private[spark] final case class StreamFraming(frame: StreamFrame, slide: Option[StreamSlide]) {

  /** See `StreamFrame.isIdle`. */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    frame.isIdle(last, now) && slide.forall(_.isIdle(last, now))
}

/**
 * A time, in microseconds, and what the program's `marks` are in a row of it; those that do not
 * follow from the time are 0.
 */
private[spark] final case class StreamMoment(time: Long, marks: Array[Long])

/** Where the rows of a key have come to. */
private[spark] final class StreamRow(marks: Int) {

  /** The values of the program's `marks`, in the row that has come and in the one before it. */
  var values: Array[Long] = new Array[Long](marks)
  var previous: Array[Long] = new Array[Long](marks)

  /** Their event times, in microseconds. */
  var time: Long = 0L
  var previousTime: Long = 0L

  /** Whether there is no row before it. */
  var isFirst: Boolean = true

  /** How many rows have come, with this one. */
  var end: Long = 0L

  /** How many rows have come that are no peers of it, and how many with them. */
  var firstPeer: Long = 0L
  var lastPeer: Long = 0L

  /** How many groups of peers have come, with its own. */
  var group: Long = 0L

  /** Another row comes, whose marks are then written into `values`. */
  def advance(): Unit = {
    val older = previous
    previous = values
    values = older
    previousTime = time
  }
}

/** Which rows of its key the window of a row holds. */
private[spark] sealed abstract class StreamFrame extends Serializable {

  /** Whether it ends before the row it is of, so that elements enter later than they come. */
  def lags: Boolean = false

  /** Whether elements leave before others. */
  def evicts: Boolean

  /** The rows that it holds at most, as far as that is known. */
  def longest: Long = Long.MaxValue

  /** Whether rows are told apart by their group of peers, in the place of their time. */
  def countsGroups: Boolean = false

  /** How many rows, and groups of peers, have to come after the row's own before it is answered. */
  def rowsAhead: Long = 0L
  def groupsAhead: Long = 0L

  /** Whether it may be beside one that looks ahead: whether rows may enter before it moves to them. */
  def canWait: Boolean = true

  /**
   * Whether the window of any row from now on is that of a key's first row.
   *
   * @param last the marks of the key's last row, as far as they follow from its time
   * @param now those of a row that would come now
   */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false

  /** Whether peers, which are equal in the window's order, have one answer. */
  def isOfPeers: Boolean = false

  /** A row has come, and will enter. */
  def arrive(window: TreeWindow, row: StreamRow): Unit = ()

  /** The rows that the row's window holds, and that have come before, enter. */
  def enter(window: TreeWindow, row: StreamRow): Unit

  /**
   * The rows before the row's window leave; all that it holds have entered.
   *
   * @param condition of the program's slots
   */
  def leave(window: TreeWindow, row: StreamRow, condition: Condition): Unit
}

/**
 * ROWS BETWEEN `preceding` PRECEDING AND `until` PRECEDING.
 *
 * @param preceding none if the window only grows
 * @param until less than 0 if it looks ahead
 */
private[spark] final case class StreamRows(preceding: Option[Long], until: Long)
    extends StreamFrame {
  private[this] val first = preceding.getOrElse(-1L)

  override def lags: Boolean = until > 0

  override def evicts: Boolean = preceding.nonEmpty

  override def longest: Long = preceding.fold(Long.MaxValue)(p => math.max(1L, p - until + 1))

  override def rowsAhead: Long = math.max(0L, -until)

  override def enter(window: TreeWindow, row: StreamRow): Unit =
    window.insertTo(math.max(0L, row.end - until))

  override def leave(window: TreeWindow, row: StreamRow, condition: Condition): Unit =
    if (evicts) window.evictTo(math.min(window.back, math.max(0L, row.end - 1 - first)))
}

/**
 * RANGE BETWEEN … PRECEDING AND … PRECEDING.
 *
 * @param preceding the mark of the first time, none if the window only grows
 * @param until that of the last time, none if it is the row's own
 * @param looksAhead whether that is after the row's own
 */
private[spark] final case class StreamRange(
    preceding: Option[Int],
    until: Option[Int],
    looksAhead: Boolean
) extends StreamFrame {
  private[this] val (first, last) = (preceding.getOrElse(-1), until.getOrElse(-1))

  override def lags: Boolean = until.nonEmpty

  override def evicts: Boolean = preceding.nonEmpty

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    evicts && last.time < now.marks(first) && (!looksAhead || isAnswered(last, now))

  private def isAnswered(last: StreamMoment, now: StreamMoment): Boolean =
    last.marks(this.last) < now.time

  override def isOfPeers: Boolean = true

  override def enter(window: TreeWindow, row: StreamRow): Unit =
    if (until.isEmpty) window.insertTo(row.lastPeer) else window.insertUntil(row.values(last))

  override def leave(window: TreeWindow, row: StreamRow, condition: Condition): Unit =
    if (evicts) window.evictBefore(row.values(first))
}

/** RANGE BETWEEN CURRENT ROW AND CURRENT ROW. */
private[spark] case object StreamPeers extends StreamFrame {
  override def evicts: Boolean = true

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean = last.time < now.time

  override def isOfPeers: Boolean = true

  override def enter(window: TreeWindow, row: StreamRow): Unit = window.insertTo(row.lastPeer)

  override def leave(window: TreeWindow, row: StreamRow, condition: Condition): Unit =
    window.evictTo(row.firstPeer)
}

/** GROUPS BETWEEN `preceding` PRECEDING AND `following` FOLLOWING: see `GroupsFrame`. */
private[spark] final case class StreamGroups(preceding: Long, following: Long)
    extends StreamFrame {
  override def evicts: Boolean = true

  override def countsGroups: Boolean = true

  override def groupsAhead: Long = following

  override def isOfPeers: Boolean = true

  override def enter(window: TreeWindow, row: StreamRow): Unit =
    window.insertUntil(row.group + following)

  override def leave(window: TreeWindow, row: StreamRow, condition: Condition): Unit =
    window.evictBefore(row.group - preceding)
}

/** Frames that end all at once, before a row enters: see `GapFrame`. */
private[spark] sealed abstract class StreamSuffix extends StreamFrame {
  override final def evicts: Boolean = false

  override final def canWait: Boolean = false

  override final def enter(window: TreeWindow, row: StreamRow): Unit = ()

  override final def leave(window: TreeWindow, row: StreamRow, condition: Condition): Unit = ()
}

/** @param mark 1 in a row that is a punctuation */
private[spark] final case class StreamPunctuation(mark: Int) extends StreamSuffix {
  override def arrive(window: TreeWindow, row: StreamRow): Unit =
    if (row.values(mark) == 1L) window.evictAll()
}

/** @param mark the last time that is not behind the gap after a row */
private[spark] final case class StreamSession(mark: Int) extends StreamSuffix {
  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    last.time < now.time && last.marks(mark) < now.time

  override def arrive(window: TreeWindow, row: StreamRow): Unit =
    if (!row.isFirst && row.time > row.previousTime && row.time > row.previous(mark)) {
      window.evictAll()
    }
}

/**
 * Bounded by the condition of its group's slots: see `PredicateFrame` and `DeltaFrame`.
 *
 * @param number of the condition
 */
private[spark] final case class StreamPredicate(number: Int) extends StreamFrame {
  override def evicts: Boolean = true

  override def enter(window: TreeWindow, row: StreamRow): Unit = window.insertTo(row.end)

  override def leave(window: TreeWindow, row: StreamRow, condition: Condition): Unit =
    while (window.size > 0 && !condition.holds(window.query())) window.evictTo(window.front + 1)
}

/** At which rows a window slides, and so has an answer. */
private[spark] sealed abstract class StreamSlide extends Serializable {
  def isAt(row: StreamRow): Boolean

  /** Whether any row from now on is as a key's first row to it: see `StreamFrame.isIdle`. */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false
}

/** See `CountSlide`. */
private[spark] final case class StreamCountSlide(every: Long) extends StreamSlide {
  override def isAt(row: StreamRow): Boolean = row.end % every == 0
}

/**
 * See `PaneSlide`.
 *
 * @param mark the number of the row's pane
 */
private[spark] final case class StreamPaneSlide(mark: Int) extends StreamSlide {
  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    last.marks(mark) != now.marks(mark)

  override def isAt(row: StreamRow): Boolean =
    row.isFirst || row.values(mark) != row.previous(mark)
}
