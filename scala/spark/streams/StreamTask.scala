package io.sash.spark.streams

import java.util.ArrayList

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/** Answers the rows of a [[StreamProgram]] once, when the watermark has passed them. */
private[streams] final class StreamTask(program: StreamProgram, state: StreamState)
    extends BucketTask {
  private[this] val keyOf = UnsafeProjection.create(program.keys, program.input)
  private[this] val order = new RowOrders(program.input, program.keys, program.order)
  private[this] val windows = new KeyWindows(program, state)
  private[this] val waiting = new WaitingRows(state, program.input.length)
  private[this] val pending = new PendingRows(state, program.time, program.input.length)

  override def turn(
      before: BucketHeader,
      rows: Iterator[UnsafeRow],
      passed: Long
  ): BucketTurn = {
    val ready = new ReadyRows(keyOf, order)
    pending.open(before, passed)(ready.add)
    rows.foreach { row =>
      if (row.getLong(program.time) <= passed) ready.add(row) else pending.add(row)
    }
    val left = pending.close()
    val answers = new Answers(ready)
    def next(keys: Boolean) = if (keys) windows.nextSweep(passed) else None
    def due = sweep(before.sweep, passed)(next(answers.hasWritten))(next(dropIdle(passed)))
    BucketTurn(answers, () => left.copy(sweep = due))
  }

  /** The rows with their answers, key by key; a key's state is read and written on the way. */
  private final class Answers(ready: ReadyRows) extends Iterator[InternalRow] {
    private[this] val source = ready.sorted().buffered
    private[this] val peers = ArrayBuffer.empty[UnsafeRow] // equal in the window's order
    private[this] val answered = ArrayBuffer.empty[UnsafeRow] // by each peer; null: none yet
    private[this] var at = 0 // the next of them to leave
    private[this] var key: UnsafeRow = _
    private[this] var ofKey: ArrayList[Waiting] = _ // for rows that come later

    /** A key's state. */
    var hasWritten: Boolean = false

    override def hasNext: Boolean = {
      var isThere = true
      while (isThere && (at == answered.length || answered(at) == null)) {
        if (at < answered.length) at += 1 else isThere = advance()
      }
      isThere
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      at += 1
      windows.answer(answered(at - 1), at - 1)
    }

    /** Takes the next peers into their key's windows, if there are any. */
    private def advance(): Boolean = {
      peers.clear()
      answered.clear()
      at = 0
      if (key != null && !isOfKey) close()
      if (source.hasNext) {
        if (key == null) open(source.head)
        do peers += source.next() while (isOfKey && isPeer(source.head))
        windows.take(peers)
        if (program.ahead == 0) answered ++= peers else peers.foreach(later)
      }
      peers.nonEmpty
    }

    /** The row waits, and the one that has waited for it is answered. */
    private def later(row: UnsafeRow): Unit = {
      ofKey.add(new Waiting(row, None))
      answered += (if (ofKey.size > program.ahead) ofKey.remove(0).row else null)
    }

    private def isPeer(row: UnsafeRow): Boolean = order.ofKey.compare(peers.head, row) == 0

    /** Whether the next row is. */
    private def isOfKey: Boolean = source.hasNext && keyOf(source.head) == key

    private def open(row: UnsafeRow): Unit = {
      key = keyOf(row).copy()
      windows.open(key.getBytes, state.heads.getValue(key.getBytes))
      if (program.ahead > 0) ofKey = waiting.read(key.getBytes)
    }

    private def close(): Unit = {
      hasWritten = true
      windows.write()
      if (program.ahead > 0) waiting.write(key.getBytes, ofKey)
      key = null
    }
  }

  /** Drops the keys that are idle; whether others are left. */
  private def dropIdle(passed: Long): Boolean = {
    var others = false
    val idle = state.heads
      .iterator()
      .filter { case (_, header) =>
        val isIdle = windows.isIdle(header, passed)
        others |= !isIdle
        isIdle
      }
      .toVector // the walk comes before what is removed
    idle.foreach { case (key, header) =>
      windows.open(key, header)
      windows.drop()
    }
    others
  }
}

private[streams] object StreamTask {

  /** 32 partials in a node. */
  val LogFanOut: Int = 5
}
