package io.sash.spark.streams.task

import scala.collection.BufferedIterator
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.{BucketHeader, PendingChunks, PendingRows, StreamState}

/** Answers the rows of a [[StreamProgram]] once, when the watermark has passed them. */
private[spark] final class StreamTask(
    program: StreamProgram,
    state: StreamState,
    windows: KeyWindows
) extends BucketTask {
  private[this] val keyOf = UnsafeProjection.create(program.rows.keys, program.input)
  private[this] val order = new ReadyOrder(
    program.input,
    program.rows.keys,
    program.rows.order,
    program.later.flatMap(_.due).map(d => program.input(d.position))
  )
  private[this] val tail = new HistoryTail(program)
  private[this] val pending = new PendingRows(state.pending, program.time, program.input.length)
  private[this] val unanswered = program.later.flatMap(_.due).map { due =>
    new PendingRows(state.unanswered, due.at, program.input.length)
  }

  override def turn(
      before: BucketHeader,
      rows: Iterator[UnsafeRow],
      passed: Long
  ): BucketTurn = {
    val ready = new ReadyRows(keyOf, order)
    pending.open(before.pending, passed)(ready.add)
    unanswered.foreach(_.open(before.unanswered, passed)(ready.add))
    rows.foreach { row =>
      if (row.getLong(program.time) <= passed) ready.add(row) else pending.add(row)
    }
    val left = before.copy(pending = pending.close())
    var hasWritten = false
    val answers = KeyTurns.of(ready.sorted(), keyOf) { rows =>
      val key = rows.key.getBytes
      windows.open(key, state.heads.getValue(key))
      def end(): Unit = {
        if (!windows.header.isNew) {
          windows.write()
          hasWritten = true
        }
      }
      if (program.later.isEmpty) promptly(tail.of(rows))(end())
      else laterAnswers.turn(rows, passed)(end())
    }
    BucketTurn(
      answers,
      () =>
        left.copy(
          sweep = nextWalk(before.sweep, hasWritten, passed),
          unanswered = unanswered.fold(PendingChunks.Empty)(_.close())
        )
    )
  }

  private[this] lazy val laterAnswers =
    new LaterAnswers(order, windows, state, program, unanswered.orNull)

  private[this] val peers = ArrayBuffer.empty[UnsafeRow]

  /** Answers a key's rows as soon as they are taken in. */
  private def promptly(rows: BufferedIterator[UnsafeRow])(end: => Unit): Iterator[InternalRow] =
    KeyTurns.turn {
      Option.when(rows.hasNext) {
        order.takePeers(rows, peers)
        windows.take(peers)
        windows.answers(peers)
      }
    }(end)

  /**
   * The time of the next walk over all keys. If the planned walk is due, it is made.
   *
   * @param hasWritten whether the batch has written the state of a key
   */
  private def nextWalk(
      planned: Option[Long],
      hasWritten: Boolean,
      passed: Long
  ): Option[Long] =
    if (planned.exists(_ > passed)) {
      planned
    } else {
      val hasKeys = if (planned.isEmpty) hasWritten else dropIdle(passed)
      if (hasKeys) windows.nextSweep(passed) else None
    }

  /** Removes the state of idle keys; true if other keys are left. */
  private def dropIdle(passed: Long): Boolean = {
    var others = false
    val idle = state.heads
      .iterator()
      .filter { case (_, header) =>
        val isIdle = windows.isIdle(header, passed)
        others |= !isIdle
        isIdle
      }
      .toVector // the walk ends before anything is removed
    idle.foreach { case (key, header) =>
      windows.open(key, header)
      windows.drop()
    }
    others
  }
}
