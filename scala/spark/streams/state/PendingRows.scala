package io.sash.spark.streams.state

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Rows of a bucket that wait for the watermark. They are stored in the state, in chunks of some
 * kilobytes; the rows of a chunk follow one another in time.
 *
 * A batch reads the chunks that begin before the watermark. All rows of such a chunk are ready,
 * except in one chunk for each 16 MB of an earlier batch, which the watermark divides. The batch
 * writes its own rows and the rows left of those chunks. Small chunks are put together. A batch
 * that changes the chunks also rewrites their directory in the `BucketHeader`.
 *
 * @param time the ordinal of the time, in microseconds, that the watermark has to pass
 */
private[spark] final class PendingRows(
    stored: StreamState#Chunks,
    time: Int,
    columns: Int
) {
  private[this] val rows = ArrayBuffer.empty[UnsafeRow]
  private[this] var bytes = 0L
  private[this] var known: PendingChunks = _

  /** Begins a bucket's turn: gives the rows until `until` to `take`, and keeps the others. */
  def open(of: PendingChunks, until: Long)(take: UnsafeRow => Unit): Unit = {
    known = of
    takeOut(_.earliest <= until) { row =>
      if (row.getLong(time) <= until) take(row) else add(row)
    }
  }

  /** Adds a row that has to wait; the caller must not change it any more. */
  def add(row: UnsafeRow): Unit = {
    rows += row
    bytes += row.getSizeInBytes
    if (bytes > PendingRows.MostBytes) store()
  }

  /** Ends the bucket's turn: writes the rows, and returns the chunks that are now stored. */
  def close(): PendingChunks = {
    if (known.chunks.count(PendingRows.isSmall) >= PendingRows.MostSmall) {
      takeOut(PendingRows.isSmall)(add)
    }
    store()
    known
  }

  private def takeOut(which: PendingChunk => Boolean)(take: UnsafeRow => Unit): Unit = {
    val (out, others) = known.chunks.partition(which)
    if (out.nonEmpty) known = known.copy(chunks = others)
    out.foreach { chunk =>
      read(stored.get(chunk.number))(take)
      stored.remove(chunk.number)
    }
  }

  /** Writes the rows that are in memory. */
  private def store(): Unit = if (rows.nonEmpty) {
    val sorted = rows.sortBy(_.getLong(time))
    rows.clear()
    bytes = 0L
    val chunks = Vector.newBuilder[PendingChunk]
    var number = known.next
    var first = 0
    while (first < sorted.length) {
      var end = first
      var bytes = 0
      while (end < sorted.length && bytes < PendingRows.ChunkBytes) {
        bytes += PendingRows.SizeBytes + sorted(end).getSizeInBytes
        end += 1
      }
      stored.put(number, write(sorted, first, end, bytes))
      chunks += PendingChunk(number, sorted(first).getLong(time), bytes)
      number += 1
      first = end
    }
    known = PendingChunks(known.chunks ++ chunks.result(), number)
  }

  private def write(
      rows: ArrayBuffer[UnsafeRow],
      first: Int,
      end: Int,
      bytes: Int
  ): Array[Byte] = {
    val out = ByteBuffer.allocate(bytes)
    (first until end).foreach(i => rows(i).writeTo(out.putLong(rows(i).getSizeInBytes)))
    out.array
  }

  /** Reads rows that point into the chunk, which must not change any more. */
  private def read(chunk: Array[Byte])(take: UnsafeRow => Unit): Unit = {
    val in = ByteBuffer.wrap(chunk)
    while (in.hasRemaining) {
      val size = in.getLong().toInt
      take(PendingRow.next(in, size, columns))
    }
  }
}

private object PendingRows {
  val ChunkBytes: Int = 8 * 1024

  /** This number of small chunks become one, so that a row is moved only a few times. */
  val MostSmall: Int = 8

  def isSmall(chunk: PendingChunk): Boolean = chunk.bytes < ChunkBytes / 2

  /** Bytes of rows in memory. */
  val MostBytes: Long = 16L << 20

  /** A size takes eight bytes, so that rows stay aligned. */
  val SizeBytes: Int = 8
}
