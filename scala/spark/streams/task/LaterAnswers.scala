package io.sash.spark.streams.task

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.streams.program.{StreamLater, StreamProgram}
import io.sash.spark.streams.state.{PendingOfKey, PendingRow, PendingRows, StreamState}

/**
 * Answers rows whose windows look ahead. A row is taken in when the watermark has passed it. It
 * then waits twice for its frame to be complete. First it waits among the bucket's `unanswered`
 * until the watermark has passed its due time. Then it waits with its key for the rows and groups
 * of peers that have to come after it. Rows are answered in their order.
 *
 * @param unanswered takes the rows that are not due; null if no row waits for a due time
 */
private[streams] final class LaterAnswers(
    order: ReadyOrder,
    windows: KeyWindows,
    state: StreamState,
    program: StreamProgram,
    unanswered: PendingRows
) {
  private[this] val StreamLater(rowsAhead, groupsAhead, due) = program.later.get
  private[this] val dueAt = due.fold(-1)(_.at)
  private[this] val waitsForRows = program.later.get.waitsForRows
  private[this] val isByPeers =
    program.countsGroups || program.windows.exists(_.isOfPeers)

  private[this] val pending = new PendingOfKey(state, program.input.length, program.time)
  private[this] val peers = ArrayBuffer.empty[UnsafeRow]
  private[this] val answered = ArrayBuffer.empty[UnsafeRow]

  /** The rows of the key without an answer, in order. */
  private[this] val queue = mutable.ArrayDeque.empty[UnsafeRow]

  /** The number of rows in the queue that are answered next, all at once. */
  private[this] var first = 0

  private[this] var takenBefore = 0L // an earlier batch took in the rows until then
  private[this] var complete = 0L // all rows until then are taken in

  /**
   * Answers a key, whose windows are open.
   *
   * @param rows rows that the watermark has passed, and due rows, which an earlier batch took in
   * @param passed the time, in microseconds, that the watermark has passed
   * @param end called when the key's rows are taken in and answered
   */
  def turn(rows: RowsOfKey, passed: Long)(end: => Unit): Iterator[InternalRow] = {
    val key = rows.key.getBytes
    takenBefore = windows.header.lastTime
    complete = takenBefore
    first = 0
    queue.clear()
    if (waitsForRows) {
      pending.open(key)
      pending.rows.forEach(p => queue += p.row)
    }
    KeyTurns.turn(step(rows, passed)) {
      store(passed)
      end
    }
  }

  private def step(rows: RowsOfKey, passed: Long): Option[Iterator[InternalRow]] =
    if (isAnswerable) {
      answered.clear()
      (0 until first).foreach(_ => answered += queue.removeHead())
      first = 0
      windows.answerLater(answered)
      Some(windows.answers(answered))
    } else if (rows.hasNext) {
      take(rows)
      Some(Iterator.empty)
    } else if (complete < passed) {
      complete = passed
      Some(Iterator.empty)
    } else {
      None
    }

  private def take(rows: RowsOfKey): Unit = {
    order.takePeers(rows, peers)
    val time = peers.head.getLong(program.time)
    if (time > takenBefore) {
      due.foreach(d => setPositions(d.position))
      windows.takeUnanswered(peers)
      if (due.nonEmpty) peers.foreach(setDue)
      complete = time - 1
    }
    queue ++= peers
  }

  private def setPositions(ordinal: Int): Unit =
    peers.indices.foreach(i => peers(i).setLong(ordinal, windows.end + i))

  /**
   * Sets the time at which a row is due: the latest bound of it and the rows before it. In the
   * calendar of a time zone, a later row may have an earlier bound.
   */
  private def setDue(row: UnsafeRow): Unit = {
    val header = windows.header
    header.lastDue = math.max(header.lastDue, row.getLong(dueAt))
    row.setLong(dueAt, header.lastDue)
  }

  /** Whether all rows in the windows of the first rows of the queue have been taken in. */
  private def isAnswerable: Boolean = queue.nonEmpty && isDue(queue.head, complete) && {
    if (first == 0)
      first = if (isByPeers) queue.iterator.takeWhile(order.arePeers(queue.head, _)).size else 1
    windows.header.unanswered - first >= rowsAhead &&
    (groupsAhead == 0 || windows.header.unansweredGroups - 1 >= groupsAhead)
  }

  private def isDue(row: UnsafeRow, until: Long): Boolean =
    due.isEmpty || row.getLong(dueAt) <= until

  private def store(passed: Long): Unit = {
    val (left, others) = queue.partition(isDue(_, passed))
    others.foreach(unanswered.add)
    if (waitsForRows) {
      pending.rows.clear()
      left.foreach(row => pending.rows.add(new PendingRow(row, None)))
      pending.write(from = 0)
    }
  }
}
