package io.sash.spark.streams.state

import java.nio.ByteBuffer
import java.util.{ArrayList, List}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** A pending row of a key, and a fingerprint of its last answer if it has been answered. */
private[streams] final class PendingRow(val row: UnsafeRow, var answered: Option[Long])

private[streams] object PendingRow {
  private val Answered = 1

  /** A multiple of eight bytes, so that rows stay aligned. */
  private val PrefixBytes: Int = 16

  /**
   * The bytes of rows.
   *
   * @param before the numbers before the rows
   */
  def encode(rows: List[PendingRow], before: Long*): Array[Byte] = {
    var size = before.length * 8
    rows.forEach(w => size += PrefixBytes + w.row.getSizeInBytes)
    val out = ByteBuffer.allocate(size)
    before.foreach(n => out.putLong(n))
    rows.forEach { w =>
      out.putInt(w.row.getSizeInBytes).putInt(if (w.answered.isEmpty) 0 else Answered)
      w.row.writeTo(out.putLong(w.answered.getOrElse(0L)))
    }
    out.array
  }

  /** The rows that the buffer still has; they point into it. */
  def decode(in: ByteBuffer, columns: Int): ArrayList[PendingRow] = {
    val rows = new ArrayList[PendingRow]
    while (in.hasRemaining) {
      val size = in.getInt()
      val isAnswered = in.getInt() == Answered
      val answered = in.getLong()
      rows.add(new PendingRow(next(in, size, columns), Option.when(isAnswered)(answered)))
    }
    rows
  }

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
}
