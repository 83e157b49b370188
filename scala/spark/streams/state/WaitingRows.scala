package io.sash.spark.streams.state

import java.nio.ByteBuffer
import java.util.{ArrayList, List}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** A row that waits, and a fingerprint of its last answer if it has been answered. */
private[streams] final class Waiting(val row: UnsafeRow, var answered: Option[Long])

/**
 * The rows of a key that wait to be answered, or answered again; stored in the state, in order.
 */
private[streams] final class WaitingRows(state: StreamState, columns: Int) {
  import WaitingRows._

  /** The rows point into the bytes read, and belong to the caller. */
  def read(key: Array[Byte]): ArrayList[Waiting] = {
    val rows = new ArrayList[Waiting]
    val bytes = state.waiting(key)
    if (bytes != null) {
      val in = ByteBuffer.wrap(bytes)
      while (in.hasRemaining) {
        val size = in.getInt()
        val isAnswered = in.getInt() == Answered
        val answered = in.getLong()
        rows.add(new Waiting(next(in, size, columns), Option.when(isAnswered)(answered)))
      }
    }
    rows
  }

  def write(key: Array[Byte], rows: List[Waiting]): Unit =
    if (rows.isEmpty) {
      state.removeWaiting(key)
    } else {
      var size = 0
      rows.forEach(w => size += PrefixBytes + w.row.getSizeInBytes)
      val out = ByteBuffer.allocate(size)
      rows.forEach { w =>
        out.putInt(w.row.getSizeInBytes).putInt(if (w.answered.isEmpty) 0 else Answered)
        w.row.writeTo(out.putLong(w.answered.getOrElse(0L)))
      }
      state.putWaiting(key, out.array)
    }
}

private[streams] object WaitingRows {
  private val Answered = 1

  /**
   * The next row, of `size` bytes. It points into the buffer, whose bytes must not change any
   * more.
   */
  def next(in: ByteBuffer, size: Int, columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(in.array, Platform.BYTE_ARRAY_OFFSET.toLong + in.position(), size)
    in.position(in.position() + size)
    row
  }

  /** A multiple of eight bytes, so that rows stay aligned. */
  private val PrefixBytes: Int = 16
}
