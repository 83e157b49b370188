package io.sash.spark.streams

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/** Answers the rows of a [[StreamProgram]] once, when the watermark has passed them. */
private[streams] final class StreamTask(program: StreamProgram, state: StreamState)
    extends BucketTask {
  private[this] val keyOf = UnsafeProjection.create(program.keys, program.input)
  private[this] val order = new RowOrders(program.input, program.keys, program.order)
  private[this] val windows = new KeyWindows(program, state)
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
    def sweep = windows.marks.sweep(before.sweep, answers.hasWritten, passed)(dropIdle(passed))
    BucketTurn(answers, () => left.copy(sweep = sweep))
  }

  /** The rows with their answers, key by key; a key's state is read and written on the way. */
  private final class Answers(ready: ReadyRows) extends Iterator[InternalRow] {
    private[this] val source = ready.sorted()
    private[this] var ahead: UnsafeRow = _ // the row after the peers
    private[this] val peers = ArrayBuffer.empty[UnsafeRow] // equal in the window's order
    private[this] var at = 0 // the next of the peers to leave
    private[this] var key: UnsafeRow = _

    /** A key's state. */
    var hasWritten: Boolean = false

    pull()

    override def hasNext: Boolean = {
      if (at == peers.length) advance()
      at < peers.length
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      at += 1
      windows.answer(peers, at - 1)
    }

    /** Takes the next peers into their key's windows. */
    private def advance(): Unit = {
      peers.clear()
      at = 0
      if (ahead == null || !isOfKey(ahead)) {
        if (key != null) close()
        if (ahead != null) open(ahead)
      }
      if (ahead != null) {
        do {
          peers += ahead
          pull()
        } while (ahead != null && isPeer(ahead) && isOfKey(ahead))
        windows.take(peers)
      }
    }

    private def pull(): Unit = ahead = if (source.hasNext) source.next() else null

    private def isPeer(row: UnsafeRow): Boolean = order.ofKey.compare(peers.head, row) == 0

    private def isOfKey(row: UnsafeRow): Boolean = keyOf(row) == key

    private def open(row: UnsafeRow): Unit = {
      key = keyOf(row).copy()
      windows.open(key.getBytes, state.heads.getValue(key.getBytes))
    }

    private def close(): Unit = {
      hasWritten = true
      windows.write()
      key = null
    }
  }

  /** Drops the keys that are idle; whether others are left. */
  private def dropIdle(passed: Long): Boolean = {
    var others = false
    val idle = state.heads
      .iterator()
      .filter { case (_, header) =>
        val isIdle = KeyWindows.isIdle(header, passed, windows.marks)
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
