package io.sash.papers.shared

import io.sash.core.shared.SharedWindows
import io.sash.core.slots.LongQueue

/** Takes the answers of [[SharedQueries]]. */
trait Answers {

  /**
   * @param query the query's number in the plan
   * @param at    the position at which its window (at - range, at] ends
   * @param slot  where the column of the windows holds the answer; valid during the call
   */
  def answer(query: Int, at: Long, slot: Int): Unit
}

/**
 * Runs a [[SharedPlan]]: partial aggregation up to each cut, final aggregation in windows that
 * all queries share.
 *
 * {{{
 *   val slot = queries.open()        // a slot for the value
 *   column.lift(slot, value)
 *   queries.insert(position)         // answers what was due before this position
 *   queries.advance(position)        // answers what is due at it: nothing more will arrive there
 * }}}
 * Positions must not descend. Several values may share a position. A value whose insertion is
 * refused or fails stays in its slot: insert it again, or open the slot anew.
 *
 * The stream starts with its first value, at any position. There are no answers for earlier
 * stops. The cuts do not depend on that first position, since slides are counted from position 0.
 *
 * If the column or `answers` throws, the answers given before that stay given, and nothing else
 * has changed. Repeat the call: it continues with the answer that failed.
 *
 * Cost: one combine a value within a partial, then the windows' cost; Cutty adds one combine an
 * answer. A part of the stream without values has no partials, but it has answers.
 *
 * Paper: ''SlickDeque'', section 3.2, algorithms 1 and 2.
 *
 * @param windows one window for each query, in the plan's order, used by nobody else
 */
final class SharedQueries(plan: SharedPlan, windows: SharedWindows, answers: Answers) {
  private[this] val ranges = plan.queries.map(_.range).toArray
  private[this] var started = false
  private[this] var stop = 0L // the next stop's number
  private[this] var due = Long.MaxValue // its position
  private[this] var answered = 0 // how many answers have been given at this stop
  private[this] var last = Long.MinValue // the last value's position
  private[this] var passed = Long.MinValue // the last position that is over
  private[this] var lastCut = 0L
  private[this] var growing = false // whether the oldest open element is an unfinished partial
  private[this] var waiting = false // whether the youngest open element is a value

  // the position before each partial in the longest window, from the oldest
  private[this] val starts = new LongQueue

  /** Opens the slot for the next value. */
  def open(): Int = {
    if (waiting) windows.discard()
    waiting = false
    val opened = windows.open()
    waiting = true
    opened
  }

  /**
   * Takes the value in the open slot. Throws if the position is over or before the last value's.
   */
  def insert(position: Long): Unit = {
    if (!waiting) throw new IllegalStateException("insert() without an open slot; call open()")
    if (position <= passed || position < last) {
      throw new IllegalArgumentException(s"a value at position $position; $progress")
    }
    if (started) pass(position - 1) else start(position)
    if (growing) windows.coalesce() else growing = true
    waiting = false
    last = position
  }

  /**
   * Answers every query that is due at or before this position. Later values must come after it.
   */
  def advance(position: Long): Unit = {
    if (position < last || position < passed) {
      throw new IllegalArgumentException(s"advance($position) back; $progress")
    }
    if (started) pass(position)
    passed = position
  }

  private def progress: String = {
    def upTo(position: Long) = if (position == Long.MinValue) "nowhere" else position.toString
    s"values have come up to ${upTo(last)}, and all up to ${upTo(passed)} is over"
  }

  /** Begins the first value's partial at the cut before it, as if earlier values had come. */
  private def start(position: Long): Unit = {
    if (math.abs(position) >= SharedQueries.Limit || position == Long.MinValue) {
      throw new IllegalArgumentException(s"position $position, which is not below 2^62")
    }
    stop = plan.stopAt(position)
    due = plan.position(stop)
    lastCut = plan.cutBefore(stop)
    started = true
  }

  private def pass(position: Long): Unit =
    while (due <= position) {
      if (plan.cutsAt(stop)) cut()
      expire()
      answer()
      passed = due
      answered = 0
      stop += 1
      due = plan.position(stop)
    }

  /** Closes the partial of the positions (lastCut, due]. */
  private def cut(): Unit = {
    if (growing) {
      windows.insert()
      starts.add(lastCut)
      growing = false
    }
    lastCut = due
  }

  /** Evicts the partials that start before a query's window (due - range, due]. */
  private def expire(): Unit = {
    var longest = 0
    var i = 0
    while (i < ranges.length) {
      while (windows.size(i) > 0 && oldestStart(i) < due - ranges(i)) windows.evict(i)
      longest = math.max(longest, windows.size(i))
      i += 1
    }
    while (starts.size > longest) starts.remove()
  }

  private def oldestStart(query: Int): Long = starts(starts.size - windows.size(query))

  private def answer(): Unit = {
    val queries = plan.dueAt(stop)
    while (answered < queries.length) {
      val query = queries(answered)
      if (growing) { // the partial began where a window began, so all due windows hold it
        answerWithin(query)
      } else {
        answers.answer(query, due, windows.query(query))
      }
      answered += 1
    }
  }

  /**
   * Answers for a window that ends within a partial: its whole partials, then the unfinished one.
   */
  private def answerWithin(query: Int): Unit = {
    val whole = windows.open()
    try {
      windows.column.combine(whole, windows.query(query), windows.oldestOpen)
      answers.answer(query, due, whole)
    } finally windows.discard()
  }
}

private object SharedQueries {
  final val Limit = 1L << 62
}
