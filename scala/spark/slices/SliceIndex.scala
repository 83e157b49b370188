package io.sash.spark.slices

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * The slices of time of each key, in the bytes that [[SliceIndexBuilder]] writes. The ends of a
 * key's ranges cut time into slices, and no range divides a slice. Immutable; tasks share it.
 *
 *  - (I1) a slice reaches from its start to the start of the key's next slice
 *  - (I2) the slices of a key have consecutive numbers, in order of time
 *  - (I3) the last slice of a key has no end; a range holds it only if that range has no end
 *
 * Cost of a look-up: a probe of the hash table of keys, and a binary search among the key's
 * slices.
 *
 * @param table the header, then a hash table. An entry has its key (8 bytes), the number of its
 *   first slice and the number after its last one (4 bytes each). If keys are rows, the 8 bytes
 *   are the offset of the row in `rows` and its hash. An entry without slices is free
 * @param starts the starts of the slices (8 bytes each), then a bit per slice: whether a range
 *   holds it
 * @param rows the keys' rows, each behind its size (8 bytes); empty if keys are numbers
 */
private[slices] final class SliceIndex(table: UnsafeRow, starts: UnsafeRow, rows: UnsafeRow) {
  import SliceIndex._

  private[this] val tableBase = table.getBaseObject
  private[this] val tableAt = table.getBaseOffset
  private[this] val entriesAt = tableAt + HeaderBytes
  private[this] val startsBase = starts.getBaseObject
  private[this] val startsAt = starts.getBaseOffset
  private[this] val rowsBase = rows.getBaseObject
  private[this] val rowsAt = rows.getBaseOffset

  private[this] val state = Platform.getInt(tableBase, tableAt)

  /** Whether there is an index. If not, each event passes alone. */
  val isComplete: Boolean = state == Complete

  /** Whether there is no index because it would have too many bytes. */
  def isTooLarge: Boolean = state == TooLarge

  private[this] val mask = Platform.getInt(tableBase, tableAt + 4)

  /** The number of slices. */
  val slices: Int = Platform.getInt(tableBase, tableAt + 8)

  /** The number of label rows from which the index was made. */
  val labels: Int = Platform.getInt(tableBase, tableAt + 12)

  /** The entry of a key that is a number, or -1. */
  def entryOf(key: Long): Int = {
    var entry = hash(key) & mask
    var at = entriesAt + entry.toLong * EntryBytes
    while (endAt(at) != 0) {
      if (Platform.getLong(tableBase, at) == key) return entry
      entry = (entry + 1) & mask
      at = entriesAt + entry.toLong * EntryBytes
    }
    -1
  }

  /** The entry of the key NULL, or -1. */
  def entryOfNull: Int = {
    val entry = mask + 1
    if (endAt(entriesAt + entry.toLong * EntryBytes) == 0) -1 else entry
  }

  /** The entry of a key that is a row, or -1. */
  def entryOf(key: UnsafeRow): Int = {
    val hash = key.hashCode
    val size = key.getSizeInBytes
    var entry = hash & mask
    var at = entriesAt + entry.toLong * EntryBytes
    while (endAt(at) != 0) {
      if (Platform.getInt(tableBase, at + 4) == hash) {
        val row = rowsAt + Platform.getInt(tableBase, at)
        if (
          Platform.getLong(rowsBase, row) == size && ByteArrayMethods.arrayEquals(
            key.getBaseObject,
            key.getBaseOffset,
            rowsBase,
            row + 8,
            size.toLong
          )
        ) return entry
      }
      entry = (entry + 1) & mask
      at = entriesAt + entry.toLong * EntryBytes
    }
    -1
  }

  private def endAt(entry: Long): Int = Platform.getInt(tableBase, entry + 12)

  /** The number of the slice that holds a time of an entry's key; -1 before the first slice. */
  def sliceOf(entry: Int, time: Long): Int = {
    val at = entriesAt + entry.toLong * EntryBytes
    var slice = Platform.getInt(tableBase, at + 8)
    var rest = endAt(at) - slice
    // The JIT makes this a conditional move. Times come in no order, so that the CPU would guess
    // a branch wrong: a search among ten slices took 33 ns with one, and takes 16.
    while (rest > 1) {
      val half = rest >>> 1
      val middle = slice + half
      slice = if (startOf(middle) <= time) middle else slice
      rest -= half
    }
    if (startOf(slice) <= time) slice else -1
  }

  private def startOf(slice: Int): Long =
    Platform.getLong(startsBase, startsAt + slice * 8L)

  /** Whether a range holds a slice. */
  def isHeld(slice: Int): Boolean = {
    val bits = Platform.getByte(startsBase, startsAt + slices * 8L + (slice >> 3))
    (bits & (1 << (slice & 7))) != 0
  }

  /** The key of an entry, if keys are numbers and this one is not NULL. */
  def numberOf(entry: Int): Long =
    Platform.getLong(tableBase, entriesAt + entry.toLong * EntryBytes)

  /** Whether the entry has the key NULL. */
  def isOfNull(entry: Int): Boolean = entry > mask

  /** Lets a row point to the key of an entry. */
  def pointTo(entry: Int, row: UnsafeRow): Unit = {
    val at = rowsAt + Platform.getInt(tableBase, entriesAt + entry.toLong * EntryBytes)
    row.pointTo(rowsBase, at + 8, Platform.getLong(rowsBase, at).toInt)
  }
}

private[slices] object SliceIndex {
  val HeaderBytes = 16
  val EntryBytes = 16
  val TooLarge = 0
  val Complete = 1

  /** An end of a range has wrapped around. */
  val Wrapped = 2

  /** Reads an index from its three rows. */
  def apply(bytes: Array[InternalRow]): SliceIndex = {
    val Array(table, starts, rows) = bytes.map(_.asInstanceOf[UnsafeRow])
    new SliceIndex(table, starts, rows)
  }

  def hash(key: Long): Int = {
    val mixed = key * 0x9e3779b97f4a7c15L
    (mixed ^ (mixed >>> 32)).toInt
  }
}
