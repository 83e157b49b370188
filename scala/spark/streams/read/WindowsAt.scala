package io.sash.spark.streams.read

import scala.collection.{mutable, BufferedIterator}
import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}

import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.program.{AnswerMode, StreamProgram}
import io.sash.spark.streams.state.{BucketHeader, PendingOfKey, PendingRows, StreamState}
import io.sash.spark.streams.task.{KeyTurns, KeyWindows, ReadyOrder, ReadyRows}

/** Windows of OVER, as they are sent to tasks. */
private[read] final case class OverProgram(
    program: StreamProgram,
    keys: KeysOfState,
    generation: Int
) extends ReadProgram {
  override def over(state: StreamState): BucketWindows =
    new WindowsAt(program, keys, state, generation)
}

/**
 * Answers the windows of keys at a moment. Rows that the watermark has not passed are taken in
 * first, up to the moment.
 *
 * @param generation the present generation of the state
 */
private[read] final class WindowsAt(
    program: StreamProgram,
    keys: KeysOfState,
    state: StreamState,
    generation: Int
) extends BucketWindows {
  private[this] var at: Option[Long] = None
  private[this] var until = Long.MaxValue
  private[this] var widths = Seq.empty[(Int, Expression)]
  private[this] val keyOf = keys.keyOf
  private[this] val order = new ReadyOrder(program.input, program.keys, program.order)
  private[this] val windows = new KeyWindows(program, state, late = None)
  private[this] val pending = new PendingRows(state.pending, program.time, program.input.length)
  private[this] val waiting = new PendingOfKey(state, program.input.length, program.time)
  private[this] val peers = ArrayBuffer.empty[UnsafeRow]

  override def answers(
      asked: Option[Seq[InternalRow]],
      moment: ReadMoment
  ): Iterator[InternalRow] = {
    at = moment.at
    until = at.getOrElse(Long.MaxValue)
    widths = moment.widths
    val moments = asked.map(_.map(keys.moment).map(m => keyOf(m).copy() -> m).toMap)
    val seen = mutable.HashSet.empty[UnsafeRow]
    val withPending = KeyTurns.of(pendingRows(k => moments.forall(_.contains(k))), keyOf) {
      rows =>
        seen += rows.key
        answer(rows.key, rows, moments).iterator
    }
    def others = moments.fold(keysInState)(_.keysIterator).filterNot(seen)
    withPending ++ others.flatMap(answer(_, Iterator.empty, moments))
  }

  /** The bucket's pending rows up to the moment. */
  private def pendingRows(isAsked: UnsafeRow => Boolean): Iterator[UnsafeRow] = {
    val rows = new ReadyRows(keyOf, order)
    val header = Option(state.bucket).map(BucketHeader.read)
    header.filterNot(_.generation == generation).foreach { _ =>
      throw ReadState.refuse(
        "checkpoint",
        "the query has changed, and the state of a key that is asked for is still that of the " +
          "query before; ask for the key after its next row"
      )
    }
    header.foreach(h => pending.look(h.pending, until)(r => if (isAsked(keyOf(r))) rows.add(r)))
    rows.sorted()
  }

  private def keysInState: Iterator[UnsafeRow] =
    state.heads.iterator().map { case (bytes, _) => keys.read(bytes) }

  /** The answer of a key, if it is asked for, or has rows. */
  private def answer(
      key: UnsafeRow,
      pending: Iterator[UnsafeRow],
      moments: Option[Map[UnsafeRow, InternalRow]]
  ): Option[InternalRow] = {
    val bytes = key.getBytes
    windows.discard() // a task that has ended early has left changes
    windows.open(bytes, state.heads.getValue(bytes))
    take((pending ++ waitingRows(bytes)).buffered)
    val time = at.orElse(Option.when(!windows.header.isNew)(windows.header.lastTime))
    time.filter(_ => moments.nonEmpty || !windows.header.isNew).map { time =>
      val moment = moments.fold[InternalRow](keys.moment(keys.valuesIn(key)))(_(key))
      moment.setLong(program.time, time)
      widths.foreach { case (i, width) => moment.update(i, width.eval(moment)) }
      windows.answerAt(moment)
    }
  }

  /** The pending rows of a key in update mode. */
  private def waitingRows(key: Array[Byte]): Iterator[UnsafeRow] =
    if (program.mode == AnswerMode.Append) Iterator.empty
    else {
      waiting.open(key)
      waiting.loadAll()
      waiting.rows.iterator.asScala.map(_.row).filter(_.getLong(program.time) <= until)
    }

  private def take(rows: BufferedIterator[UnsafeRow]): Unit = while (rows.hasNext) {
    order.takePeers(rows, peers)
    windows.take(peers)
  }
}
