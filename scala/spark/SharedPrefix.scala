package io.sash.spark

import java.nio.ByteOrder

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Prefixes of strings that look behind the bytes with which all of them begin: the first 8 bytes
 * of timestamps, paths or numbered names as text often tell nothing, and the next ones do.
 *
 * @param column where in their rows the strings are, or the binaries
 */
private[spark] final class SharedPrefix(records: Records, fields: Int, column: Int) {
  import SharedPrefix._

  private[this] val row = new UnsafeRow(fields)

  // the string of the record that was read last
  private[this] var base: AnyRef = _
  private[this] var start = 0L
  private[this] var size = 0

  /** How many bytes all of these strings, none of them NULL, begin with. */
  def length(chain: RecordChain): Int = {
    var record = chain.first
    read(record)
    val (firstBase, firstStart) = (base, start)
    var shared = size
    var left = chain.count - 1
    while (left > 0 && shared > 0) {
      record = records.next(record)
      read(record)
      shared = common(firstBase, firstStart, math.min(shared, size))
      left -= 1
    }
    shared
  }

  /** The 8 bytes of a record's string that follow so many; zeros, behind its end. */
  def prefix(record: Long, shared: Int): Long = {
    read(record)
    if (size - shared >= 8) {
      bigEndian(Platform.getLong(base, start + shared))
    } else {
      var bytes = 0L
      var i = shared
      while (i < size) {
        bytes |= (Platform.getByte(base, start + i) & 0xffL) << (56 - 8 * (i - shared))
        i += 1
      }
      bytes
    }
  }

  private def read(record: Long): Unit = {
    records.pointTo(record, row)
    val offsetAndSize = row.getLong(column)
    base = row.getBaseObject
    start = row.getBaseOffset + (offsetAndSize >>> 32)
    size = offsetAndSize.toInt
  }

  /** How many of the first bytes, at most so many, are those of the string that was read last. */
  private def common(otherBase: AnyRef, otherStart: Long, most: Int): Int = {
    var i = 0
    while (
      i < most && Platform.getByte(otherBase, otherStart + i) == Platform.getByte(base, start + i)
    ) i += 1
    i
  }
}

private object SharedPrefix {
  private def bigEndian(bytes: Long): Long =
    if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) java.lang.Long.reverseBytes(bytes)
    else bytes
}
