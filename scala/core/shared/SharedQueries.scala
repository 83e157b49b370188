package io.sash.core.shared

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
 * Positions must not descend. Several values may share a position.
 *
 * Cost: one combine a value within a partial, then what the windows cost; Cutty adds one combine
 * an answer. An empty stretch of the stream has no partials, but its answers.
 *
 * Paper: ''SlickDeque'', section 3.2, algorithms 1 and 2.
 *
 * @param windows windows of their own for each query, in the plan's order
 */
final class SharedQueries(plan: SharedPlan, windows: SharedWindows, answers: Answers) {
  private[this] val ranges = plan.queries.map(_.range).toArray
  private[this] var stop = 0L // the next stop's number
  private[this] var due = plan.position(0) // its position
  private[this] var last = 0L // the last value's position
  private[this] var passed = 0L // what was advanced to
  private[this] var lastCut = 0L
  private[this] var growing = false // whether the oldest open element is a partial that grows

  // where each partial in the longest window starts, from the oldest
  private[this] val starts = new LongQueue

  def open(): Int = windows.open()

  /** Takes the value that was lifted into the open slot; a position that is over refuses it. */
  def insert(position: Long): Unit = {
    if (position <= passed || position < last) {
      windows.discard()
      throw new IllegalArgumentException(
        s"a value at position $position; values have come up to $last, and all up to $passed is over"
      )
    }
    pass(position - 1)
    if (growing) windows.coalesce() else growing = true
    last = position
  }

  /** Answers every query that is due up to, and at, this position: what comes, comes later. */
  def advance(position: Long): Unit = {
    if (position < last || position < passed) {
      throw new IllegalArgumentException(
        s"advance($position) back; values have come up to $last, and all up to $passed is over"
      )
    }
    pass(position)
    passed = position
  }

  private def pass(position: Long): Unit =
    while (due <= position) {
      if (plan.cutsAt(stop)) cut()
      expire()
      answer()
      stop += 1
      due = plan.position(stop)
    }

  /** Closes the partial of the positions (lastCut, due]. */
  private def cut(): Unit = {
    if (growing) {
      starts.add(lastCut)
      windows.insert()
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
    var i = 0
    while (i < queries.length) {
      if (growing) { // it began where a window began, so that it lies in all that are due
        answerWithin(queries(i))
      } else {
        answers.answer(queries(i), due, windows.query(queries(i)))
      }
      i += 1
    }
  }

  /** A window that ends within a partial: its whole partials, and that one as far as it goes. */
  private def answerWithin(query: Int): Unit = {
    val whole = windows.open()
    windows.column.combine(whole, windows.query(query), windows.oldestOpen)
    answers.answer(query, due, whole)
    windows.discard()
  }
}
