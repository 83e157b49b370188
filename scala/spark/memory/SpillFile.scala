package io.sash.spark.memory

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, File, RandomAccessFile}

import org.apache.spark.sash.SparkInternals

/**
 * A temporary file of blocks of bytes for one task. Blocks are read and written in any order. The
 * first `store` creates the file. Blocks are encrypted if Spark encrypts its own spills. Bytes
 * written are counted in `memory`.
 */
private[spark] final class SpillFile(memory: WindowMemory) {
  import SpillFile.Block

  private[this] var disk: RandomAccessFile = _
  private[this] var end = 0L

  /**
   * Writes a block: over `previous`, which may be null, if the block fits there, else at the end
   * of the file.
   */
  def store(previous: Block, bytes: Array[Byte], length: Int): Block = {
    if (disk == null) create()
    val sealedBytes = encrypted(bytes, length)
    val size = sealedBytes.length
    val fits = previous != null && size <= previous.room
    val offset = if (fits) previous.offset else end
    disk.seek(offset)
    disk.write(sealedBytes)
    memory.spilled(size.toLong)
    if (fits) {
      previous.copy(stored = size)
    } else {
      end += size
      Block(offset, size, size)
    }
  }

  def fetch(block: Block): Array[Byte] = {
    val bytes = new Array[Byte](block.stored)
    disk.seek(block.offset)
    disk.readFully(bytes)
    SparkInternals.decrypting(new ByteArrayInputStream(bytes)).readAllBytes()
  }

  private def encrypted(bytes: Array[Byte], length: Int): Array[Byte] = {
    val buffer = new ByteArrayOutputStream(length)
    val out = SparkInternals.encrypting(buffer)
    out.write(bytes, 0, length)
    out.close()
    buffer.toByteArray
  }

  private def create(): Unit = {
    val file: File = SparkInternals.createTempFile()
    disk = new RandomAccessFile(file, "rw")
    memory.closeAtEnd { () =>
      disk.close()
      file.delete()
    }
  }
}

private[spark] object SpillFile {

  /**
   * @param offset the position in the file at which the block begins
   * @param room the bytes that belong to the block
   * @param stored the bytes of the block in use
   */
  final case class Block(offset: Long, room: Int, stored: Int)
}
