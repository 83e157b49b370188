package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.hops.stream.{HopProgram, KeyHops}
import io.sash.spark.streams.program.AnswerMode
import io.sash.spark.streams.state.{BucketHeader, StreamState}

/**
 * Hop windows that are open, as they are sent to tasks.
 *
 * In append mode the state says which windows are open: the windows that no batch has answered.
 * In update mode it may have windows that are over, and `passed` says which.
 *
 * @param passed the time, in microseconds, that the watermark has passed
 * @param generation the present generation of the state
 */
private[read] final case class HopsOfState(
    program: HopProgram,
    keys: KeysOfState,
    passed: Long,
    generation: Int
) extends ReadProgram {
  override def over(state: StreamState): BucketWindows = {
    val over = if (program.mode == AnswerMode.Update) passed else 0L
    val windows = new KeyHops(program, state, program.hops.firstEndingAfter(over))
    new HopsOfBucket(windows, keys, state, generation)
  }
}

/** Answers the open hop windows of keys, each in a row. */
private[read] final class HopsOfBucket(
    windows: KeyHops,
    keys: KeysOfState,
    state: StreamState,
    generation: Int
) extends BucketWindows {
  private[this] val keyOf = keys.keyOf

  override def answers(
      asked: Option[Seq[InternalRow]],
      moment: ReadMoment
  ): Iterator[InternalRow] =
    if (isEarlier) Iterator.empty else asked.fold(all)(these).flatMap(answer)

  /** Whether another query has left the bucket, whose windows a changed query does not go on. */
  private def isEarlier: Boolean =
    Option(state.bucket).exists(BucketHeader.read(_).generation != generation)

  private def all: Iterator[(UnsafeRow, Array[Byte])] =
    state.heads.iterator().map { case (bytes, header) => keys.read(bytes) -> header }

  private def these(asked: Seq[InternalRow]): Iterator[(UnsafeRow, Array[Byte])] = asked
    .map(k => keyOf(keys.moment(k)).copy())
    .distinct
    .iterator
    .map(key => key -> state.heads.getValue(key.getBytes))
    .filter { case (_, header) => header != null }

  private def answer(of: (UnsafeRow, Array[Byte])): Iterator[InternalRow] = {
    val (key, header) = of
    windows.discard() // a task that has ended early may have left changes
    windows.open(key, header)
    windows.allOpen.map(windows.row(key, _))
  }
}
