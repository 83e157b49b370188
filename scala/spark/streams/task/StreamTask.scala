package io.sash.spark.streams.task

import scala.collection.BufferedIterator

import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.{BucketHeader, PendingChunks, PendingRows, StreamState}

/** Answers the rows of a [[StreamProgram]] once, when the watermark has passed them. */
private[spark] final class StreamTask(program: StreamProgram, state: StreamState)
    extends BucketTask {
  private[this] val keyOf = UnsafeProjection.create(program.keys, program.input)
  private[this] val order = new ReadyOrder(
    program.input,
    program.keys,
    program.order,
    program.later.flatMap(_.due).map(d => program.input(d.position))
  )
  private[this] val windows = new KeyWindows(program, state)
  private[this] val pending = new PendingRows(state.pending, program.time, program.input.length)
  private[this] val unanswered = program.later.flatMap(_.due).map { due =>
    new PendingRows(state.unanswered, due.at, program.input.length)
  }

  override def time: Int = program.time

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
    val answers = answersOf(ready.sorted().buffered, passed)
    def next(keys: Boolean) = if (keys) windows.nextSweep(passed) else None
    def due = sweep(before.sweep, passed)(next(answers.hasWritten))(next(dropIdle(passed)))
    BucketTurn(
      answers,
      () =>
        left.copy(
          sweep = due,
          unanswered = unanswered.fold(PendingChunks.Empty)(_.close())
        )
    )
  }

  private def answersOf(rows: BufferedIterator[UnsafeRow], passed: Long): KeyAnswers =
    if (program.later.isEmpty) new PromptAnswers(rows)
    else
      new LaterAnswers(
        rows,
        keyOf,
        order,
        windows,
        state,
        program,
        unanswered.orNull,
        passed
      )

  /** Answers rows as soon as they are taken in. */
  private final class PromptAnswers(rows: BufferedIterator[UnsafeRow])
      extends KeyAnswers(rows, keyOf, order, windows, state) {

    override protected def begin(key: Array[Byte]): Unit = ()

    override protected def step(): Boolean = {
      val goesOn = isOfKey
      if (goesOn) {
        takePeers(answered)
        windows.take(answered)
      }
      goesOn
    }

    override protected def end(key: Array[Byte]): Unit = ()
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

private[spark] object StreamTask {

  /** 2^5^ = 32 partials in a node. */
  val LogFanOut: Int = 5
}
