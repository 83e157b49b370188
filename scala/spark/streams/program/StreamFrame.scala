package io.sash.spark.streams.program

import scala.annotation.unused

import io.sash.core.frames.Condition
import io.sash.core.stored.TreeWindow

/** The rows of a key that are in the window of a row. */
private[spark] sealed abstract class StreamFrame extends Serializable {

  /** The frame in the description of a state. */
  def signature: String

  /**
   * Whether the frame may end before its row, so that elements enter the window later than they
   * come.
   */
  def lags: Boolean = false

  /** Whether some elements leave before others; otherwise all leave at once, or none. */
  def evicts: Boolean

  /** The largest number of rows in the window, as far as it is known. */
  def longest: Long = Long.MaxValue

  /** Whether elements are stored by their group of peers, and not by their time. */
  def countsGroups: Boolean = false

  /** How many rows, and groups of peers, have to come after the row before it is answered. */
  def rowsAhead: Long = 0L
  def groupsAhead: Long = 0L

  /**
   * The reason why the frame cannot stand beside one that looks ahead, where rows are taken in
   * before the window moves to them; None if it can.
   */
  def whyNotAhead: Option[String]

  /**
   * Whether the key can be forgotten: the window of each row from now on would be the same if the
   * row were its key's first. If this is never true, the frame keeps its keys for good.
   *
   * @param last the time of the key's last row, and the marks that follow from it
   * @param now the same for a row that would come now
   */
  def isIdle(last: StreamMoment, now: StreamMoment): Boolean

  /**
   * The earlier rows that windows after a moment may hold; None if rows decide it.
   *
   * @param at a moment after these rows
   */
  def reach(@unused at: StreamMoment): Option[StreamReach] = None

  /**
   * Whether the frame ends with the last peer of its row. Peers, rows that are equal in the
   * window's order, then have the same answer, unless the frame `movesWithinPeers`.
   */
  def isOfPeers: Boolean = false

  /** Whether rows leave a frame of peers from one peer to the next. */
  def movesWithinPeers: Boolean = false

  /**
   * The conditions for a row to leave: it is before the windows of all frames in one of these
   * sequences. Each of these frames bounds its window by `firstPosition` or `firstTime`.
   */
  def leaving: Seq[Seq[StreamFrame]] = Seq(Seq(this))

  /** The parts that say how far each row looks back; the window holds more rows. */
  def owns: Seq[StreamOwn] = Nil

  /** Inserts the rows that are in the row's window and have come before it is answered. */
  def enter(window: TreeWindow, row: CurrentKeyRow): Unit

  /**
   * The rows before the row's window have a position before `firstPosition` and a stored time
   * before `firstTime`. `Long.MaxValue` bounds nothing.
   */
  def firstPosition(row: CurrentKeyRow): Long = Long.MaxValue
  def firstTime(row: CurrentKeyRow): Long = Long.MaxValue

  /**
   * Evicts the rows before the row's window, after `enter`.
   *
   * @param condition the condition of the program's slots
   */
  def leave(window: TreeWindow, row: CurrentKeyRow, @unused condition: Condition): Unit =
    if (evicts) evict(window, firstPosition(row), firstTime(row))

  protected final def evict(window: TreeWindow, position: Long, time: Long): Unit =
    if (time < Long.MaxValue) window.evictBefore(time, position)
    else window.evictTo(math.min(window.back, position))
}

/**
 * ROWS BETWEEN `preceding` PRECEDING AND `until` PRECEDING.
 *
 * @param preceding None if the window only grows
 * @param until less than 0 if the frame looks ahead
 */
private[spark] final case class StreamRows(preceding: Option[Long], until: Long)
    extends StreamFrame {
  private[this] val first = preceding.getOrElse(-1L)

  override def signature: String = {
    def place(before: Long) =
      if (before == 0L) "the row" else if (before > 0L) s"$before before" else s"${-before} after"
    s"rows from ${preceding.fold("the first")(place)} to ${place(until)}"
  }

  override def lags: Boolean = until > 0

  override def whyNotAhead: Option[String] = None

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false

  override def evicts: Boolean = preceding.nonEmpty

  override def longest: Long = preceding.fold(Long.MaxValue)(p => math.max(1L, p - until + 1))

  override def rowsAhead: Long = math.max(0L, -until)

  override def reach(at: StreamMoment): Option[StreamReach] =
    preceding.map(p => StreamReach(math.max(0L, p), Long.MaxValue))

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit =
    window.insertTo(math.max(0L, row.end - until))

  override def firstPosition(row: CurrentKeyRow): Long = math.max(0L, row.end - 1 - first)
}

/**
 * RANGE BETWEEN … PRECEDING AND … PRECEDING.
 *
 * @param preceding the mark of the first time; None if the window only grows
 * @param until the mark of the last time; None if it is the row's own time
 * @param looksAhead whether the last time is after the row's own
 */
private[spark] final case class StreamRange(
    preceding: Option[Int],
    until: Option[Int],
    looksAhead: Boolean
) extends StreamFrame {
  private[this] val (first, last) = (preceding.getOrElse(-1), until.getOrElse(-1))

  override def signature: String = {
    val from = preceding.fold("the first")(m => s"bound $m")
    val to = until.fold("the row")(m => s"bound $m")
    s"range from $from to $to" + (if (looksAhead) " ahead" else "")
  }

  override def lags: Boolean = until.nonEmpty

  override def whyNotAhead: Option[String] = None

  override def evicts: Boolean = preceding.nonEmpty

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    evicts && last.time < now.marks(first) && (!looksAhead || isAnswered(last, now))

  override def reach(at: StreamMoment): Option[StreamReach] =
    preceding.map(p => StreamReach(0L, at.marks(p)))

  private def isAnswered(last: StreamMoment, now: StreamMoment): Boolean =
    last.marks(this.last) < now.time

  override def isOfPeers: Boolean = true

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit =
    if (until.isEmpty) window.insertTo(row.lastPeer) else window.insertUntil(row.values(last))

  override def firstTime(row: CurrentKeyRow): Long = row.values(first)
}

/** RANGE BETWEEN CURRENT ROW AND CURRENT ROW. */
private[spark] case object StreamPeers extends StreamFrame {
  override def signature: String = "peers"

  override def whyNotAhead: Option[String] = None

  override def evicts: Boolean = true

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean = last.time < now.time

  override def reach(at: StreamMoment): Option[StreamReach] = Some(StreamReach.Nothing)

  override def isOfPeers: Boolean = true

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit = window.insertTo(row.lastPeer)

  override def firstPosition(row: CurrentKeyRow): Long = row.firstPeer
}

/** GROUPS BETWEEN `preceding` PRECEDING AND `following` FOLLOWING: see `GroupsFrame`. */
private[spark] final case class StreamGroups(preceding: Long, following: Long)
    extends StreamFrame {
  override def signature: String = s"groups from $preceding before to $following after"

  override def whyNotAhead: Option[String] = None

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false

  override def evicts: Boolean = true

  override def countsGroups: Boolean = true

  override def groupsAhead: Long = following

  override def isOfPeers: Boolean = true

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit =
    window.insertUntil(row.group + following)

  override def firstTime(row: CurrentKeyRow): Long = row.group - preceding
}

/**
 * The rows since a place at which windows begin: see `GapFrame`. All earlier rows leave at once,
 * before the row at this place enters.
 *
 * @param number the number of `beginning` in the program
 */
private[spark] final case class StreamSince(number: Int, beginning: StreamBeginning)
    extends StreamFrame {
  override def signature: String = beginning.signature

  override def whyNotAhead: Option[String] = Some(s"begin at a ${beginning.what}")

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    beginning.isIdle(last, now)

  override def evicts: Boolean = false

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit = ()

  override def firstPosition(row: CurrentKeyRow): Long = row.beginPosition(number)
}

/**
 * A frame bounded by the condition of its group's slots: see `PredicateFrame` and `DeltaFrame`.
 *
 * @param number the number of the condition
 */
private[spark] final case class StreamPredicate(number: Int) extends StreamFrame {
  override def signature: String = s"condition $number"

  override def whyNotAhead: Option[String] = None

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false

  override def evicts: Boolean = true

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit = window.insertTo(row.end)

  override def leave(window: TreeWindow, row: CurrentKeyRow, condition: Condition): Unit =
    while (window.size > 0 && !condition.holds(window.query())) window.evictTo(window.front + 1)
}

/**
 * A row's own width, as a part of a window whose other parts say which rows leave. An answer
 * leaves out the rows of the window before `begin`.
 */
private[spark] sealed abstract class StreamOwn extends StreamFrame {
  override def whyNotAhead: Option[String] = None

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean = false

  override def evicts: Boolean = true

  override def owns: Seq[StreamOwn] = Seq(this)

  override def leaving: Seq[Seq[StreamFrame]] = Nil

  // all rows are in the other parts' windows
  override def reach(at: StreamMoment): Option[StreamReach] = Some(StreamReach.Nothing)

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit = window.insertTo(row.end)

  /** The position of the first row that is as near as the row's own width. */
  def begin(window: TreeWindow, row: CurrentKeyRow): Long
}

/** @param width the mark of the number of rows before the row; less than 0 if it has no rows */
private[spark] final case class StreamOwnRows(width: Int) extends StreamOwn {
  override def signature: String = s"own rows of bound $width"

  override def begin(window: TreeWindow, row: CurrentKeyRow): Long = {
    val rows = row.values(width)
    if (rows < 0) window.back else row.end - 1 - rows
  }
}

/** @param from the mark of the first time, in microseconds */
private[spark] final case class StreamOwnRange(from: Int) extends StreamOwn {
  override def signature: String = s"own range from bound $from"

  override def isOfPeers: Boolean = true

  override def movesWithinPeers: Boolean = true

  override def begin(window: TreeWindow, row: CurrentKeyRow): Long =
    window.firstAt(row.values(from))
}

/** A frame made of others. */
private[spark] sealed abstract class StreamJoined extends StreamFrame {
  def parts: Seq[StreamFrame]

  /** All frames in this one that are not joined themselves. */
  final def leaves: Seq[StreamFrame] = leaving.flatten.distinct

  override final def owns: Seq[StreamOwn] = parts.flatMap(_.owns).distinct

  /** The reason why these parts cannot be joined; None if they can. */
  final def fault: Option[String] =
    if (leaves.exists(_.isInstanceOf[StreamPredicate]))
      Some("has a part whose rows leave by a condition on its own window")
    else if (leaves.exists(p => p.lags || p.rowsAhead > 0 || p.groupsAhead > 0))
      Some("has a part that does not end at the current row")
    else
      Option.when(leaves.exists(_.countsGroups) && (leaves ++ owns).exists(measuresTimes))(
        "counts groups and measures times, and a stream keeps one of both for a window"
      )

  private def measuresTimes(frame: StreamFrame): Boolean = frame match {
    case _: StreamRange | _: StreamOwnRange => true
    case _                                  => false
  }

  override def evicts: Boolean = true

  override def reach(at: StreamMoment): Option[StreamReach] = StreamReach.of(parts, at)

  override def countsGroups: Boolean = parts.exists(_.countsGroups)

  override def whyNotAhead: Option[String] = parts.flatMap(_.whyNotAhead).headOption

  override def movesWithinPeers: Boolean =
    isOfPeers && parts.exists(p => !p.isOfPeers || p.movesWithinPeers)

  override def enter(window: TreeWindow, row: CurrentKeyRow): Unit =
    window.insertTo(if (isOfPeers) row.lastPeer else row.end)

  private[this] lazy val clauses = leaving.map(_.toArray).toArray

  override def leave(window: TreeWindow, row: CurrentKeyRow, condition: Condition): Unit = {
    var c = 0
    while (c < clauses.length) {
      leave(window, row, clauses(c))
      c += 1
    }
  }

  /** Evicts the rows that are before the windows of all these frames. */
  private def leave(
      window: TreeWindow,
      row: CurrentKeyRow,
      frames: Array[StreamFrame]
  ): Unit = {
    var position = Long.MaxValue
    var time = Long.MaxValue
    var i = 0
    while (i < frames.length) {
      position = math.min(position, frames(i).firstPosition(row))
      time = math.min(time, frames(i).firstTime(row))
      i += 1
    }
    evict(window, position, time)
  }
}

/** The rows in the windows of all parts. */
private[spark] final case class StreamAnd(parts: Seq[StreamFrame]) extends StreamJoined {
  override def signature: String = parts.map(_.signature).mkString("(", " and ", ")")

  override def longest: Long = parts.map(_.longest).min

  override def leaving: Seq[Seq[StreamFrame]] = parts.flatMap(_.leaving).distinct

  private[this] lazy val remembering = leaves.collect {
    case since: StreamSince if since.beginning.readsLast => since
  }

  // The rows before are in no window of one part, and so in no window of all. But a session that
  // has begun earlier also ends earlier.
  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    parts.exists(_.isIdle(last, now)) && remembering.forall(_.isIdle(last, now))

  override def isOfPeers: Boolean = parts.forall(_.isOfPeers)
}

/** The rows in the window of any part. */
private[spark] final case class StreamOr(parts: Seq[StreamFrame]) extends StreamJoined {
  override def signature: String = parts.map(_.signature).mkString("(", " or ", ")")

  override def longest: Long = parts.map(_.longest).max

  override def leaving: Seq[Seq[StreamFrame]] = parts.map(_.leaving).reduce { (some, others) =>
    for (one <- some; other <- others) yield (one ++ other).distinct
  }

  override def isIdle(last: StreamMoment, now: StreamMoment): Boolean =
    parts.forall(_.isIdle(last, now))

  override def isOfPeers: Boolean = parts.exists(_.isOfPeers)
}
