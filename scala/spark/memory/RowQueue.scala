package io.sash.spark.memory

import java.util.ArrayDeque

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows that wait for their frames, first in, first out, in chunks of bytes. The chunk that is
 * written and the chunk that is read stay in memory; those between them go to disk when the
 * task has no memory for them.
 *
 * A record is a header of 8 bytes, the row's size, and the row, so that rows stay aligned.
 */
private[spark] final class RowQueue(fields: Int, memory: WindowMemory) {
  import RowQueue._

  private[this] val file = new SpillFile(memory)
  private[this] val between = new ArrayDeque[Chunk]()
  private[this] val row = new UnsafeRow(fields)
  private[this] var tail = new Chunk(new Array[Byte](ChunkBytes))
  private[this] var head = tail
  private[this] var position = 0

  def add(added: UnsafeRow): Unit = {
    val size = added.getSizeInBytes
    if (tail.limit + HeaderBytes + size > tail.bytes.length) newTail(HeaderBytes + size)
    val bytes = tail.bytes
    val at = Platform.BYTE_ARRAY_OFFSET + tail.limit
    Platform.putLong(bytes, at.toLong, size.toLong)
    Platform.copyMemory(
      added.getBaseObject,
      added.getBaseOffset,
      bytes,
      at.toLong + HeaderBytes,
      size.toLong
    )
    tail.limit += HeaderBytes + size
  }

  /** The oldest row, valid until the next call of any method; the queue must not be empty. */
  def remove(): UnsafeRow = {
    if (position == head.limit) nextHead()
    val at = Platform.BYTE_ARRAY_OFFSET + position.toLong
    val size = Platform.getLong(head.bytes, at).toInt
    row.pointTo(head.bytes, at + HeaderBytes, size)
    position += HeaderBytes + size
    row
  }

  /** Moves the chunks between the first and the last to disk and gives their memory back. */
  def spill(): Unit = between.forEach { chunk =>
    if (chunk.bytes != null) {
      chunk.spillTo(file)
      release(chunk)
    }
  }

  private def newTail(needed: Int): Unit =
    if (head == tail && position == tail.limit && needed <= tail.bytes.length) {
      position = 0 // all rows are gone: the same chunk again
      tail.limit = 0
    } else {
      if (head != tail) between.addLast(tail)
      val size = math.max(ChunkBytes, needed)
      val granted = memory.tryAcquire(size.toLong)
      if (!granted) spill()
      tail = new Chunk(new Array[Byte](size))
      if (granted) tail.accounted = size
    }

  /** Moves on to the oldest chunk; the one that was read is garbage. */
  private def nextHead(): Unit = {
    release(head)
    head = if (between.isEmpty) tail else between.removeFirst()
    if (head.bytes == null) head.fetchFrom(file)
    position = 0
  }

  private def release(chunk: Chunk): Unit = {
    memory.release(chunk.accounted.toLong)
    chunk.accounted = 0
  }
}

private[spark] object RowQueue {
  val ChunkBytes: Int = 64 * 1024
  private val HeaderBytes = 8

  /** @param bytes null when the chunk is on disk */
  private final class Chunk(var bytes: Array[Byte]) {
    var limit = 0

    /** Bytes that were acquired for it; the first and the last chunk may have none. */
    var accounted = 0
    private[this] var block: SpillFile.Block = _

    def spillTo(file: SpillFile): Unit = {
      block = file.store(null, bytes, limit)
      bytes = null
    }

    def fetchFrom(file: SpillFile): Unit = bytes = file.fetch(block)
  }
}
