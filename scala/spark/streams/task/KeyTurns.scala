package io.sash.spark.streams.task

import scala.collection.BufferedIterator

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/**
 * The answers of a bucket, one key's turn after the other. A turn begins when all answers of the
 * turn before have been read, and that turn has ended. So one key's state is open at a time.
 */
private[spark] object KeyTurns {

  /**
   * @param rows the rows of a batch, each key's together
   * @param turn the answers of the key of these rows; it reads all of the rows
   */
  def of(rows: Iterator[UnsafeRow], keyOf: UnsafeProjection)(
      turn: RowsOfKey => Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    val source = rows.buffered
    Iterator.continually(source).takeWhile(_.hasNext).flatMap(s => turn(new RowsOfKey(s, keyOf)))
  }

  /**
   * The answers of a turn.
   *
   * @param step returns the answers that can be given next, maybe none; None if the turn is over
   * @param end ends the turn, once all of its answers have been read
   */
  def turn(step: => Option[Iterator[InternalRow]])(end: => Unit): Iterator[InternalRow] =
    ending(Iterator.continually(step).takeWhile(_.nonEmpty).flatMap(_.get))(end)

  /** The answers of a turn that are there at once. */
  def ending(answers: Iterator[InternalRow])(end: => Unit): Iterator[InternalRow] =
    answers ++ {
      end
      Iterator.empty
    }
}

/** The next rows of a key, in the window's order. There is at least one. */
private[spark] final class RowsOfKey(source: BufferedIterator[UnsafeRow], keyOf: UnsafeProjection)
    extends BufferedIterator[UnsafeRow] {
  val key: UnsafeRow = keyOf(source.head).copy()
  private[this] var isKnown = true // whether `isOfKey` is of the row at the head
  private[this] var isOfKey = true

  override def hasNext: Boolean = {
    if (!isKnown) {
      isOfKey = source.hasNext && keyOf(source.head) == key
      isKnown = true
    }
    isOfKey
  }

  override def head: UnsafeRow = source.head

  override def next(): UnsafeRow = {
    isKnown = false
    source.next()
  }
}
