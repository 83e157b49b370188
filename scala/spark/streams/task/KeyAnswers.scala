package io.sash.spark.streams.task

import scala.collection.BufferedIterator
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import io.sash.spark.streams.state.StreamState

/**
 * Rows with their answers, key by key. The state of a key is read when its turn begins, and
 * written when it ends.
 *
 * @param source rows ordered by key, and within a key by the window's order
 */
private[streams] abstract class KeyAnswers(
    source: BufferedIterator[UnsafeRow],
    keyOf: UnsafeProjection,
    order: ReadyOrder,
    windows: KeyWindows,
    state: StreamState
) extends Iterator[InternalRow] {
  private[this] var key: UnsafeRow = _
  private[this] var at = 0 // the next answered row to leave

  /** The rows whose answers the windows hold, until the next step. */
  protected final val answered: ArrayBuffer[UnsafeRow] = ArrayBuffer.empty

  /** Whether the state of a key has been written. */
  final var hasWritten: Boolean = false

  /** Begins the turn of a key, whose windows are open. */
  protected def begin(key: Array[Byte]): Unit

  /** Fills `answered` if it can; false if the key's turn is over. */
  protected def step(): Boolean

  /** Ends the turn of the key, before its windows are written. */
  protected def end(key: Array[Byte]): Unit

  override final def hasNext: Boolean = {
    while (at == answered.length && (key != null || source.hasNext)) advance()
    at < answered.length
  }

  override final def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    at += 1
    windows.answer(answered(at - 1), at - 1)
  }

  private def advance(): Unit = {
    answered.clear()
    at = 0
    if (key == null) open()
    if (!step()) close()
  }

  /** Whether the next row is of the key. */
  protected final def isOfKey: Boolean = source.hasNext && keyOf(source.head) == key

  /** Adds the next rows of the key that are equal in the window's order. */
  protected final def takePeers(to: ArrayBuffer[UnsafeRow]): Unit = {
    val first = source.head
    do to += source.next() while (isOfKey && isPeer(first, source.head))
  }

  protected final def isPeer(row: UnsafeRow, other: UnsafeRow): Boolean =
    order.ofKey.compare(row, other) == 0

  private def open(): Unit = {
    key = keyOf(source.head).copy()
    windows.open(key.getBytes, state.heads.getValue(key.getBytes))
    begin(key.getBytes)
  }

  private def close(): Unit = {
    hasWritten = true
    end(key.getBytes)
    windows.write()
    key = null
  }
}
