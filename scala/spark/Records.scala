package io.sash.spark

import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.{Platform, UnsafeAlignedOffset}

/**
 * Records in a task's pages, by address: the prefix of the order, the address of the next record
 * of the same list, and the row as Spark's sorters expect it, its size first.
 */
private[spark] final class Records(manager: TaskMemoryManager, order: RowOrder) {
  import Records._

  private[this] val prefixes = order.prefixComparator
  private[this] val rows = order.recordComparator
  private[this] val prefixDecides = order.prefixDecides
  private[this] val toSize = HeaderBytes - UnsafeAlignedOffset.getUaoSize

  def prefix(record: Long): Long =
    Platform.getLong(manager.getPage(record), manager.getOffsetInPage(record))

  def next(record: Long): Long =
    Platform.getLong(manager.getPage(record), manager.getOffsetInPage(record) + Next)

  def link(record: Long, next: Long): Unit =
    Platform.putLong(manager.getPage(record), manager.getOffsetInPage(record) + Next, next)

  def write(record: Long, prefix: Long, row: UnsafeRow): Unit = {
    val base = manager.getPage(record)
    val at = manager.getOffsetInPage(record)
    val size = row.getSizeInBytes
    Platform.putLong(base, at, prefix)
    UnsafeAlignedOffset.putSize(base, at + toSize, size)
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      base,
      at + HeaderBytes,
      size.toLong
    )
  }

  def pointTo(record: Long, row: UnsafeRow): Unit = {
    val base = manager.getPage(record)
    val at = manager.getOffsetInPage(record)
    row.pointTo(base, at + HeaderBytes, UnsafeAlignedOffset.getSize(base, at + toSize))
  }

  /** What Spark's sorters are given as the record's address. */
  def ofSorter(record: Long): Long = record + toSize

  /** Whether `younger`, which arrived later, belongs before `older`. */
  def outOfOrder(older: Long, younger: Long, nulls: Boolean): Boolean = {
    val compared = prefixes.compare(prefix(older), prefix(younger))
    if (compared != 0 || (prefixDecides && !nulls)) {
      compared > 0
    } else {
      rows.compare(
        manager.getPage(older),
        manager.getOffsetInPage(older) + HeaderBytes,
        0, // an order needs no lengths
        manager.getPage(younger),
        manager.getOffsetInPage(younger) + HeaderBytes,
        0
      ) > 0
    }
  }
}

private[spark] object Records {
  private val Next = 8

  /** Of a record, before its row. */
  val HeaderBytes: Int = 24

  /** Of a record; records stay aligned. */
  def bytes(row: UnsafeRow): Int = HeaderBytes + (row.getSizeInBytes + 7) / 8 * 8
}

/** Records in the order of their arrival. */
private[spark] final class RecordList(records: Records) {
  private[this] var oldest = 0L
  private[this] var youngest = 0L
  private[this] var length = 0L
  private[this] var late = 0L

  def count: Long = length

  /** The oldest record. */
  def first: Long = oldest

  /** Records that belong before the one that arrived before them. */
  def outOfOrder: Long = late

  /** @param nulls whether the first sort column of a record may be NULL */
  def add(record: Long, nulls: Boolean): Unit = {
    if (length > 0 && records.outOfOrder(youngest, record, nulls)) late += 1
    addUnseen(record)
  }

  /** Adds a record without a look at the order. */
  def addUnseen(record: Long): Unit = {
    if (length == 0) oldest = record else records.link(youngest, record)
    youngest = record
    length += 1
  }
}
