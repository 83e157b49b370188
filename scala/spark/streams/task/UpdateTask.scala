package io.sash.spark.streams.task

import java.util.{ArrayList, Collections, Comparator}

import scala.collection.BufferedIterator
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

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
 */
private[streams] final class UpdateTask(program: StreamProgram, state: StreamState)
    extends BucketTask {
  import UpdateTask._

  private[this] val keyOf = UnsafeProjection.create(program.keys, program.input)
  private[this] val order = new ReadyOrder(program.input, program.keys, program.order)
  private[this] val windows = new KeyWindows(program, state)
  private[this] val waiting = new WaitingRows(state, program.input.length)
  private[this] val byOrder: Comparator[Waiting] = (a, b) => order.ofKey.compare(a.row, b.row)

  override def time: Int = program.time

  override def turn(
      before: BucketHeader,
      rows: Iterator[UnsafeRow],
      passed: Long
  ): BucketTurn = {
    val come = new ReadyRows(keyOf, order)
    var debt = before.debt
    rows.foreach { row =>
      come.add(row)
      if (debt > 0) debt -= 1
    }
    val answers = new Answers(come.sorted().buffered, passed)
    // a walk waits until the rows pending now are final, or later, until keys are idle
    def next(latest: Option[Long]) = {
      val idle = windows.nextSweep(passed)
      if (idle.isEmpty && debt > 0) None else (latest.filter(_ > passed) ++ idle).maxOption
    }
    def walk() = settleAll(passed).flatMap { walked =>
      debt = walked.keys
      next(walked.latest)
    }
    def due = sweep(before.sweep, passed)(answers.latest.flatMap(t => next(Some(t))))(walk())
    BucketTurn(
      answers,
      () => {
        // first, since a walk sets another debt
        val sweep = due
        before.copy(sweep = sweep, debt = debt)
      }
    )
  }

  /** The new and the changed answers, key by key. */
  private final class Answers(come: BufferedIterator[UnsafeRow], passed: Long)
      extends Iterator[InternalRow] {
    private[this] var turn: KeyTurn = _

    /** The latest time of a row of these keys; None if no row has come. */
    var latest: Option[Long] = None

    override def hasNext: Boolean = {
      while ((turn == null || !turn.hasNext) && come.hasNext)
        turn = turnOf(keyOf(come.head).copy())
      turn != null && turn.hasNext
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      turn.next()
    }

    private def turnOf(key: UnsafeRow): KeyTurn = {
      val rows = waiting.read(key.getBytes)
      while (come.hasNext && keyOf(come.head) == key) rows.add(new Waiting(come.next(), None))
      Collections.sort(rows, byOrder) // linear if they are in order
      latest = later(latest, rows)
      new KeyTurn(key.getBytes, state.heads.getValue(key.getBytes), rows, passed)
    }
  }

  /**
   * The rows of a key in order, with their answers where these are new. The state of the final
   * rows is written once all of them have been taken in; the pending rows are written at the end.
   */
  private final class KeyTurn(
      key: Array[Byte],
      header: Array[Byte],
      rows: ArrayList[Waiting],
      passed: Long
  ) extends Iterator[InternalRow] {
    private[this] val peers = ArrayBuffer.empty[UnsafeRow]
    private[this] var first = 0 // where the peers begin in `rows`
    private[this] var at = 0 // the next row that may have a new answer
    private[this] val finals = countFinal(rows, passed)
    private[this] var found = false
    private[this] var isOver = false

    windows.open(key, header)

    override def hasNext: Boolean = {
      while (!found && !isOver) {
        if (at == first + peers.length) advance()
        else if (isAnswered) at += 1
        else found = true
      }
      found
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      found = false
      at += 1
      val answer = windows.answer(peers(at - 1 - first), at - 1 - first)
      val row = rows.get(at - 1)
      if (row.answered.nonEmpty) state.counts(StreamMetrics.AnswersCorrected) += 1
      row.answered = Some(fingerprint(answer))
      answer
    }

    /** Whether the next row's answer has not changed. */
    private def isAnswered: Boolean =
      rows
        .get(at)
        .answered
        .exists(_ == fingerprint(windows.answer(peers(at - first), at - first)))

    private def advance(): Unit = {
      if (at == finals) windows.write()
      if (at == rows.size) {
        close()
      } else {
        first = at
        takePeers(rows, first, peers)
      }
    }

    private def close(): Unit = {
      windows.discard()
      waiting.write(key, rows.subList(finals, rows.size))
      isOver = true
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

  private def later(time: Option[Long], rows: ArrayList[Waiting]): Option[Long] =
    (time ++ Some(timeOf(rows.get(rows.size - 1)))).maxOption

  /**
   * Makes the rows that the watermark has passed final, in all keys, and drops idle keys. Returns
   * the keys that are left; None if none is.
   */
  private def settleAll(passed: Long): Option[Walked] = {
    var keys = 0L
    var latest = Option.empty[Long]
    // the walk ends before anything is written
    state.heads.iterator().toVector.foreach { case (key, header) =>
      val rows = waiting.read(key)
      val finals = countFinal(rows, passed)
      val waits = finals < rows.size
      if (waits) latest = later(latest, rows)
      settle(key, header, rows, finals)
      if (!waits && windows.isIdle(passed)) windows.drop() else keys += 1
    }
    Option.when(keys > 0)(Walked(keys, latest))
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

  /** A fingerprint of 64 bits: one in 2^64^ changed answers is taken for unchanged. */
  private def fingerprint(row: UnsafeRow): Long = XXH64.hashUnsafeBytes(
    row.getBaseObject,
    row.getBaseOffset,
    row.getSizeInBytes,
    42L
  )
}
