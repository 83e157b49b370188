package io.sash.spark.memory

import java.util.ArrayDeque

import org.apache.spark.TaskContext
import org.apache.spark.sash.RowFile
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * A first-in, first-out queue of rows, in chunks of bytes. The chunk being written and the chunk
 * being read stay in memory. The chunks between them go to disk when the task has no memory for
 * them.
 */
private[spark] final class RowQueue(fields: Int, memory: WindowMemory) {
  import RowQueue._

  private[this] val file = new RowFile(fields, TaskContext.get())
  private[this] val between =
    new ArrayDeque[Iterator[UnsafeRow]]() // chunks in memory, and runs of rows in `file`
  private[this] var tail = new Chunk(fields, ChunkBytes)
  private[this] var head: Iterator[UnsafeRow] = tail

  def add(row: UnsafeRow): Unit = {
    if (!tail.fits(row)) newTail(Chunk.bytes(row))
    tail.add(row)
  }

  /**
   * Removes the oldest row; the queue must not be empty. The row is valid until another row is
   * added or removed.
   */
  def remove(): UnsafeRow = {
    if (!head.hasNext) nextHead()
    head.next()
  }

  /** Moves the chunks between the first and the last to disk, and releases their memory. */
  def spill(): Unit = {
    val chunks = new ArrayDeque[Chunk]()
    between.forEach {
      case chunk: Chunk => chunks.addLast(chunk)
      case _            => // a run is in the file already
    }
    if (!chunks.isEmpty) {
      val before = file.bytes
      val run = file.write(sink => chunks.forEach(_.foreachRow(sink)))
      memory.spilled(file.bytes - before)
      chunks.forEach { chunk =>
        between.removeLast()
        release(chunk)
      }
      between.addLast(run)
    }
  }

  def close(): Unit = file.close()

  private def newTail(needed: Int): Unit =
    if ((head eq tail) && !tail.hasNext && needed <= tail.capacity) {
      tail.clear() // all its rows have been read, so the chunk is reused
    } else {
      if (!(head eq tail)) between.addLast(tail)
      val size = math.max(ChunkBytes, needed)
      val granted = memory.tryAcquire(size.toLong)
      if (!granted) spill()
      tail = new Chunk(fields, size)
      if (granted) tail.accounted = size
    }

  /**
   * Makes the oldest unread chunk or run the head, and releases the memory of the chunk just
   * read.
   */
  private def nextHead(): Unit = {
    head match {
      case chunk: Chunk => release(chunk)
      case _            =>
    }
    head = if (between.isEmpty) tail else between.removeFirst()
  }

  private def release(chunk: Chunk): Unit = {
    memory.release(chunk.accounted.toLong)
    chunk.accounted = 0
  }
}

private[spark] object RowQueue {
  val ChunkBytes: Int = 64 * 1024
  private val HeaderBytes = 8

  /**
   * Rows in an array of bytes. A row is valid until the next one is read. Before each row is its
   * size, in a header of 8 bytes, so that rows stay aligned.
   */
  private final class Chunk(fields: Int, val capacity: Int) extends Iterator[UnsafeRow] {
    private[this] val bytes = new Array[Byte](capacity)
    private[this] val row = new UnsafeRow(fields)
    private[this] var position = 0
    private[this] var limit = 0

    /** The bytes acquired for this chunk: 0 for the first chunk, or if memory was refused. */
    var accounted = 0

    def fits(row: UnsafeRow): Boolean = limit + Chunk.bytes(row) <= capacity

    def add(row: UnsafeRow): Unit = {
      val at = Platform.BYTE_ARRAY_OFFSET.toLong + limit
      val rowBytes = row.getSizeInBytes
      Platform.putLong(bytes, at, rowBytes.toLong)
      row.writeToMemory(bytes, at + HeaderBytes)
      limit += HeaderBytes + rowBytes
    }

    override def hasNext: Boolean = position < limit

    override def next(): UnsafeRow = {
      val at = Platform.BYTE_ARRAY_OFFSET.toLong + position
      val rowBytes = Platform.getLong(bytes, at).toInt
      row.pointTo(bytes, at + HeaderBytes, rowBytes)
      position += HeaderBytes + rowBytes
      row
    }

    /** Visits each row without removing any. No row may have been read before. */
    def foreachRow(visit: UnsafeRow => Unit): Unit = {
      while (hasNext) visit(next())
      position = 0
    }

    def clear(): Unit = {
      position = 0
      limit = 0
    }
  }

  private object Chunk {
    def bytes(row: UnsafeRow): Int = HeaderBytes + row.getSizeInBytes
  }
}
