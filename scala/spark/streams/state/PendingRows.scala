package io.sash.spark.streams.state

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Rows of a bucket that wait for the watermark: in the state, in chunks of some kilobytes, each of
 * rows that follow one another in time.
 *
 * A batch reads the chunks that begin before the watermark, which are those whose rows it has
 * passed now, and one for each earlier batch whose rows it divides; it writes its own rows and what
 * is left of those. Chunks of batches with few rows are put together.
 *
 * @param time the ordinal of what the watermark has to pass, in microseconds
 */
private[spark] final class PendingRows(
    stored: StreamState#Chunks,
    time: Int,
    columns: Int
) {
  private[this] val rows = ArrayBuffer.empty[UnsafeRow]
  private[this] var bytes = 0L
  private[this] var known: PendingChunks = _

  /** A bucket's turn begins: gives the rows until `time` to `take`, and keeps others. */
  def open(of: PendingChunks, until: Long)(take: UnsafeRow => Unit): Unit = {
    known = of
    takeOut(_.earliest <= until) { row =>
      if (row.getLong(time) <= until) take(row) else add(row)
    }
  }

  /** A row that has to wait; the caller does not change it any more. */
  def add(row: UnsafeRow): Unit = {
    rows += row
    bytes += row.getSizeInBytes
    if (bytes > PendingRows.MostBytes) store()
  }

  /** The bucket's turn is over: what is known of it now. */
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

  /** Writes the rows that wait. */
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
    (first until end).foreach(i => out.putLong(rows(i).getSizeInBytes).put(rows(i).getBytes))
    out.array
  }

  /** Rows that point into the chunk, which stays as it is. */
  private def read(chunk: Array[Byte])(take: UnsafeRow => Unit): Unit = {
    val in = ByteBuffer.wrap(chunk)
    while (in.hasRemaining) {
      val size = in.getLong().toInt
      take(WaitingRows.next(in, size, columns))
    }
  }
}

private object PendingRows {
  val ChunkBytes: Int = 8 * 1024

  /** As many small chunks become one, so that a row is moved a few times at most. */
  val MostSmall: Int = 8

  def isSmall(chunk: PendingChunk): Boolean = chunk.bytes < ChunkBytes / 2

  /** Of the rows in memory. */
  val MostBytes: Long = 16L << 20

  /** Rows of eight bytes each stay aligned. */
  val SizeBytes: Int = 8
}
