package io.sash.spark.streams.task

import java.util.{ArrayList, Collections, Comparator}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.base.RowHash
import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.{
  BucketHeader,
  StreamMetrics,
  StreamState,
  Waiting,
  WaitingRows
}

/**
 * Answers the rows of a [[StreamProgram]] when they come, and again when a row that is out of
 * order has changed their answer.
 *
 * Pending rows wait in the state, each key's together, each with a fingerprint of its last
 * answer. When rows of a key come, the windows continue from the final rows over the key's
 * pending rows, and then forget the pending rows again. So a batch costs, for each key with new
 * rows, the rows of that key within the delay.
 *
 * Rows of other keys are made final by a walk over all keys. If keys never leave, the next walk
 * waits until as many rows have come as the last one visited keys. So its amortised cost is at
 * most one key for each row.
 *
 * @param late the watermark of late rows, in microseconds, if it is known
 */
private[streams] final class UpdateTask(
    program: StreamProgram,
    state: StreamState,
    windows: KeyWindows,
    late: Option[Long]
) extends BucketTask {
  import UpdateTask._

  private[this] val keyOf = UnsafeProjection.create(program.keys, program.input)
  private[this] val order = new ReadyOrder(program.input, program.keys, program.order)
  private[this] val tail = new HistoryTail(program)
  private[this] val changes =
    program.changes.map(new AppliedChanges(program, _, late.getOrElse(Long.MinValue), state))
  private[this] val waiting = new WaitingRows(state, program.input.length)
  private[this] val byOrder: Comparator[Waiting] = (a, b) => order.ofKey.compare(a.row, b.row)

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
      val rows = waiting.read(key)
      val pending = rows.size
      val removed = changes.fold(Seq.empty[UnsafeRow])(_.change(rows, of))
      tail.of(of).foreach(row => rows.add(new Waiting(row, None)))
      Collections.sort(rows, byOrder) // linear if they are in order
      if (rows.isEmpty && pending == 0) Iterator.empty
      else {
        latest = (latest ++ removed.map(_.getLong(program.time)) ++ lastOf(rows)).maxOption
        removed.iterator.map(windows.withoutAnswers) ++ turn(key, rows, passed)
      }
    }
    BucketTurn(answers, () => after(before, count, latest, passed))
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
   * The new and the changed answers of a key. The state of its final rows is written once all of
   * them have been taken in; its pending rows are written at the end.
   *
   * @param rows the rows of the key, in order
   */
  private def turn(
      key: Array[Byte],
      rows: ArrayList[Waiting],
      passed: Long
  ): Iterator[InternalRow] = {
    val finals = countFinal(rows, passed)
    val peers = ArrayBuffer.empty[UnsafeRow]
    var first = 0
    windows.open(key, state.heads.getValue(key))
    KeyTurns.turn {
      if (first == finals) windows.write()
      Option.when(first < rows.size) {
        takePeers(rows, first, peers)
        first += peers.length
        changed(rows, first - peers.length, peers)
      }
    } {
      windows.discard()
      waiting.write(key, rows.subList(finals, rows.size))
    }
  }

  /** The answers of peers, from `first` on in `rows`, that differ from their last answers. */
  private def changed(
      rows: ArrayList[Waiting],
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
      rows: ArrayList[Waiting],
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

  /** How many rows the watermark has passed; they come before all others. */
  private def countFinal(rows: ArrayList[Waiting], passed: Long): Int =
    rows.stream.filter(timeOf(_) <= passed).count.toInt

  private def lastOf(rows: ArrayList[Waiting]): Option[Long] =
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
      val rows = waiting.read(key)
      val finals = countFinal(rows, passed)
      val waits = finals < rows.size
      if (waits) latest = (latest ++ lastOf(rows)).maxOption
      settle(key, header, rows, finals)
      if (!waits && windows.isIdle(passed)) windows.drop() else keys += 1
    }
    Walked(keys, latest)
  }

  private def timeOf(waiting: Waiting): Long = waiting.row.getLong(program.time)

  /** Opens the windows of the key, and takes in its first `count` rows for good. */
  private def settle(
      key: Array[Byte],
      header: Array[Byte],
      rows: ArrayList[Waiting],
      count: Int
  ): Unit = {
    windows.open(key, header)
    val peers = ArrayBuffer.empty[UnsafeRow]
    var first = 0
    while (first < count) {
      takePeers(rows, first, peers)
      first += peers.length
    }
    if (count > 0) {
      windows.write()
      waiting.write(key, rows.subList(count, rows.size))
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
