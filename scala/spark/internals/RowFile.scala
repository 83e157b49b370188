package org.apache.spark.sash

import java.io.{File, FileInputStream}

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.executor.ShuffleWriteMetrics
import org.apache.spark.network.util.LimitedInputStream
import org.apache.spark.serializer.DeserializationStream
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.UnsafeRowSerializer
import org.apache.spark.storage.{DiskBlockObjectWriter, FileSegment, TempLocalBlockId}

/**
 * A temporary file of runs of rows. A run is written by one call, and read once. Runs are read in
 * the order in which they were written. Spark's own writer and serializer compress and encrypt
 * the file like Spark's spills. Both are `private[spark]`, hence this package.
 */
final class RowFile(fields: Int, context: TaskContext) {
  private[this] val serializer = new UnsafeRowSerializer(fields).newInstance()
  private[this] val written = new ShuffleWriteMetrics
  private[this] var block: TempLocalBlockId = _
  private[this] var file: File = _
  private[this] var writer: DiskBlockObjectWriter = _
  private[this] var open: DeserializationStream = _ // the stream of the run being read

  /** Writes the rows that `each` passes on as a run. Returns an iterator that reads the run. */
  def write(each: (UnsafeRow => Unit) => Unit): Iterator[UnsafeRow] = {
    if (writer == null) create()
    val before = written.bytesWritten
    var rows = 0L
    try {
      each { row =>
        SparkInternals.throwIfKilled(context)
        writer.write(null, row)
        rows += 1
      }
      val segment = writer.commitAndGet()
      context.taskMetrics().incDiskBytesSpilled(written.bytesWritten - before)
      new SegmentRows(segment, rows)
    } catch {
      case e: Throwable =>
        writer.revertPartialWritesAndClose()
        writer = null
        throw e
    }
  }

  /** The bytes of all runs written so far. */
  def bytes: Long = written.bytesWritten

  def close(): Unit = {
    if (open != null) open.close()
    open = null
    if (writer != null) writer.close()
    if (file != null) file.delete()
  }

  private def create(): Unit = {
    val manager = SparkEnv.get.blockManager
    if (file == null) {
      val (id, path) = manager.diskBlockManager.createTempLocalBlock()
      block = id
      file = path
    }
    writer = manager.getDiskWriter(block, file, serializer, RowFile.BufferBytes, written)
  }

  private def read(segment: FileSegment): DeserializationStream = {
    val in = new FileInputStream(segment.file)
    in.getChannel.position(segment.offset)
    val limited = new LimitedInputStream(in, segment.length)
    serializer.deserializeStream(SparkEnv.get.serializerManager.wrapStream(block, limited))
  }

  /** Reads a run. Each row is valid until the next call. */
  private final class SegmentRows(segment: FileSegment, rows: Long) extends Iterator[UnsafeRow] {
    private[this] var left = rows

    override def hasNext: Boolean = left > 0

    override def next(): UnsafeRow = {
      SparkInternals.throwIfKilled(context)
      if (left == 0) throw new NoSuchElementException("no more rows")
      if (left == rows) open = read(segment)
      left -= 1
      val row = open.readValue[UnsafeRow]()
      if (left == 0) {
        open.close()
        open = null
      }
      row
    }
  }
}

object RowFile {

  /** The size of the writer's buffer, as in Spark's sorters. */
  private val BufferBytes = 32 * 1024
}
