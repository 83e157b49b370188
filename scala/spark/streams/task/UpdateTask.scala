package io.sash.spark.streams.task

import java.util.{ArrayList, Collections, Comparator}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.base.RowHash
import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.{
  BucketHeader,
  PendingOfKey,
  StreamMetrics,
  StreamState,
  PendingRow
}

/**
 * Answers the rows of a [[StreamProgram]] when they come, and again when a row that is out of
 * order has changed their answer.
 *
 * Pending rows wait in the state, each key's together, each with a fingerprint of its last
 * answer. When rows of a key come, the windows continue from the final rows, or from a start
 * among the pending rows. They take in the pending rows behind it and the new rows, and then
 * forget these rows again. So for each key with new rows, a batch takes in that key's rows from
 * the first new row on. It also takes in some rows before: fewer than two chunks of
 * [[PendingOfKey]]. A chunk has as many rows as a batch had, within limits. No chunk of a key
 * closes after the key has begun anew, until the watermark has passed that beginning.
 *
 * A row that the watermark has passed when it comes costs all pending rows of its key.
 *
 * Rows of other keys are made final by a walk over all keys. If keys never leave, the next walk
 * waits until as many rows have come as the last one visited keys. So its amortised cost is at
 * most two keys for each row.
 */
private[streams] final class UpdateTask(
    program: StreamProgram,
    state: StreamState,
    windows: KeyWindows
) extends BucketTask {
  import UpdateTask._

  private[this] val keyOf = UnsafeProjection.create(program.rows.keys, program.input)
  private[this] val order = new ReadyOrder(program.input, program.rows.keys, program.rows.order)
  private[this] val tail = new HistoryTail(program)
  private[this] val pending = new PendingOfKey(state, program.input.length, program.time)
  private[this] val byOrder: Comparator[PendingRow] = (a, b) => order.ofKey.compare(a.row, b.row)

  override def turn(
      before: BucketHeader,
      rows: Iterator[UnsafeRow],
      passed: Long
  ): BucketTurn = {
    val come = new ReadyRows(keyOf, order)
    var count = 0L
    rows.foreach { row =>
      come.add(row)
      count += 1
    }
    var latest = Option.empty[Long] // of the rows of the keys that have been answered
    val answers = KeyTurns.of(come.sorted(), keyOf) { of =>
      val key = of.key.getBytes
      load(key, of.head, passed)
      val rows = pending.rows
      val before = rows.size
      tail.of(of).foreach(row => rows.add(new PendingRow(row, None)))
      Collections.sort(rows, byOrder) // linear if they are in order
      if (rows.isEmpty) Iterator.empty
      else {
        latest = (latest ++ lastOf(rows)).maxOption
        turn(key, passed, rows.size - before)
      }
    }
    BucketTurn(answers, () => after(before, count, latest, passed))
  }

  /**
   * Moves to a key, and loads the pending rows whose answers the new rows may change.
   *
   * @param first the first of the new rows, in order
   */
  private def load(key: Array[Byte], first: UnsafeRow, passed: Long): Unit = {
    pending.open(key)
    if (first.getLong(program.time) <= passed) pending.loadAll()
    else {
      if (pending.hasFinalChunks(passed)) settle(key, state.heads.getValue(key), passed)
      pending.loadBack(order.ofKey.compare(first, _) >= 0)
    }
  }

  /**
   * The header after a batch. If the planned walk is due, it is made.
   *
   * @param count the number of the batch's rows
   * @param latest the latest row of their keys; None if no row has come
   */
  private def after(
      before: BucketHeader,
      count: Long,
      latest: Option[Long],
      passed: Long
  ): BucketHeader = {
    val debt = math.max(0L, before.debt - count)
    before.sweep match {
      case Some(time) if time > passed => before.copy(debt = debt)
      case Some(_) =>
        val left = settleAll(passed)
        val next = if (left.keys > 0) nextWalk(left.latest, left.keys, passed) else None
        before.copy(sweep = next, debt = left.keys)
      case None =>
        val next = if (latest.nonEmpty) nextWalk(latest, debt, passed) else None
        before.copy(sweep = next, debt = debt)
    }
  }

  /**
   * The time of the next walk: the rows that are pending now are final then, and keys may be
   * idle. If keys never leave, none is planned before the debt is paid.
   */
  private def nextWalk(latest: Option[Long], debt: Long, passed: Long): Option[Long] = {
    val idle = windows.nextSweep(passed)
    if (idle.isEmpty && debt > 0) None else (latest.filter(_ > passed) ++ idle).maxOption
  }

  /**
   * The new and the changed answers of a key, whose rows are loaded. The state of its final rows
   * is written once all of them have been taken in; its last pending rows are written at the end.
   *
   * Pending rows are made chunks if they are at least twice as many as a chunk has, and twice as
   * many as have come. So rows that come in batches of a hundred, say, are in chunks of a
   * hundred, and a row is taken in again only a few times. No chunk has many more than
   * `PendingOfKey.MostRows`, since a row out of order costs its chunk.
   *
   * @param come the number of new rows
   */
  private def turn(key: Array[Byte], passed: Long, come: Int): Iterator[InternalRow] = {
    val rows = pending.rows
    val finals = countFinal(rows, passed)
    val least = come.max(PendingOfKey.ChunkRows).min(PendingOfKey.MostRows)
    val divides = rows.size - finals >= 2 * least
    val peers = ArrayBuffer.empty[UnsafeRow]
    var first = 0
    var left = finals // the first row that is in no chunk
    val start = pending.start
    windows.open(key, start, rewrites = pending.nodeEnd > 0)
    KeyTurns.turn {
      if (first == finals && (finals > 0 || start == null)) windows.write()
      if (divides && first - left >= least && first < rows.size && !windows.hasBegunAnew) {
        pending.close(left, first, windows.headerBeside(), windows.end)
        left = first
      }
      Option.when(first < rows.size) {
        takePeers(rows, first, peers)
        first += peers.length
        changed(rows, first - peers.length, peers)
      }
    } {
      windows.discard()
      pending.write(left)
    }
  }

  /** The answers of peers, from `first` on in `rows`, that differ from their last answers. */
  private def changed(
      rows: ArrayList[PendingRow],
      first: Int,
      peers: ArrayBuffer[UnsafeRow]
  ): Iterator[InternalRow] = {
    var at = first
    windows.answers(peers).filter { answer =>
      val row = rows.get(at)
      at += 1
      val now = RowHash.of(answer) // a fingerprint
      val isChanged = !row.answered.contains(now)
      if (isChanged && row.answered.nonEmpty) state.counts(StreamMetrics.AnswersCorrected) += 1
      row.answered = Some(now)
      isChanged
    }
  }

  /** Takes in the rows that are equal, in the window's order, to the row at `first`. */
  private def takePeers(
      rows: ArrayList[PendingRow],
      first: Int,
      peers: ArrayBuffer[UnsafeRow]
  ): Unit = {
    peers.clear()
    var i = first
    while (i < rows.size && byOrder.compare(rows.get(first), rows.get(i)) == 0) {
      peers += rows.get(i).row
      i += 1
    }
    windows.take(peers)
  }

  /** How many rows the watermark has passed. They come before all other rows. */
  private def countFinal(rows: ArrayList[PendingRow], passed: Long): Int =
    rows.stream.filter(timeOf(_) <= passed).count.toInt

  private def lastOf(rows: ArrayList[PendingRow]): Option[Long] =
    Option.when(!rows.isEmpty)(timeOf(rows.get(rows.size - 1)))

  /**
   * Makes the rows that the watermark has passed final, in all keys, and drops idle keys. Returns
   * the keys that are left.
   */
  private def settleAll(passed: Long): Walked = {
    var keys = 0L
    var latest = Option.empty[Long]
    // the walk ends before anything is written
    state.heads.iterator().toVector.foreach { case (key, header) =>
      pending.open(key)
      settle(key, header, passed)
      val waits = !pending.rows.isEmpty
      if (waits) latest = (latest ++ lastOf(pending.rows)).maxOption
      if (!waits && windows.isIdle(passed)) windows.drop() else keys += 1
    }
    Walked(keys, latest)
  }

  private def timeOf(pending: PendingRow): Long = pending.row.getLong(program.time)

  /**
   * Opens the windows of the key, and takes in for good the rows that the watermark has passed.
   */
  private def settle(key: Array[Byte], header: Array[Byte], passed: Long): Unit = {
    val finals = pending.takeFinal(passed)
    windows.open(key, header, rewrites = pending.nodeEnd > 0)
    val peers = ArrayBuffer.empty[UnsafeRow]
    var first = 0
    while (first < finals.size) {
      takePeers(finals, first, peers)
      first += peers.length
    }
    if (first > 0) {
      windows.write()
      pending.write(0)
    }
  }
}

private object UpdateTask {

  /**
   * The keys that a walk over a bucket has left.
   *
   * @param latest the latest time of a row that is still pending, if there is one
   */
  private final case class Walked(keys: Long, latest: Option[Long])
}
