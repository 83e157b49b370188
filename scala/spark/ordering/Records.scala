package io.sash.spark.ordering

import java.util.{Arrays, Iterator => JavaIterator}

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
    UnsafeAlignedOffset.putSize(base, at + Size, size)
    copy(row.getBaseObject, row.getBaseOffset, base, at + HeaderBytes, size)
  }

  /** A row's bytes, which are whole words: a few of them are copied faster one by one. */
  private def copy(from: AnyRef, fromOffset: Long, to: AnyRef, toOffset: Long, size: Int): Unit =
    if (size <= CopiedByWords) {
      var i = 0
      while (i < size) {
        Platform.putLong(to, toOffset + i, Platform.getLong(from, fromOffset + i))
        i += 8
      }
    } else {
      Platform.copyMemory(from, fromOffset, to, toOffset, size.toLong)
    }

  def pointTo(record: Long, row: UnsafeRow): Unit = {
    val base = manager.getPage(record)
    val at = manager.getOffsetInPage(record)
    row.pointTo(base, at + HeaderBytes, UnsafeAlignedOffset.getSize(base, at + Size))
  }

  /**
   * Reads a record's first word and its last, of which nothing but the reading matters: the
   * processor then has both near.
   */
  def touch(record: Long): Long = {
    val base = manager.getPage(record)
    val at = manager.getOffsetInPage(record)
    val last = at + HeaderBytes + UnsafeAlignedOffset.getSize(base, at + Size) - 8
    Platform.getLong(base, at) ^ Platform.getLong(base, last)
  }

  /**
   * Whether a record that arrived later belongs before an older one, by their prefixes where
   * those tell.
   *
   * @param nulls whether the first sort column of either may be NULL
   */
  def outOfOrder(
      older: Long,
      olderPrefix: Long,
      younger: Long,
      youngerPrefix: Long,
      nulls: Boolean
  ): Boolean = {
    val compared = prefixes.compare(olderPrefix, youngerPrefix)
    if (isDecided(compared, nulls)) compared > 0 else compareRows(older, younger) > 0
  }

  def outOfOrder(older: Long, younger: Long, nulls: Boolean): Boolean =
    outOfOrder(older, prefix(older), younger, prefix(younger), nulls)

  /** The order of two records without their prefixes. */
  def compareRows(left: Long, right: Long): Int = rows.compare(
    manager.getPage(left),
    manager.getOffsetInPage(left) + HeaderBytes,
    0, // an order needs no lengths
    manager.getPage(right),
    manager.getOffsetInPage(right) + HeaderBytes,
    0
  )

  /** Whether nothing but the prefixes, compared so, has a say. */
  private def isDecided(compared: Int, nulls: Boolean): Boolean =
    compared != 0 || (prefixDecides && !nulls)
}

private[spark] object Records {
  private val Next = 8
  private val Size = 16
  private val CopiedByWords = 128

  /** Of a record, before its row. */
  val HeaderBytes: Int = Size + UnsafeAlignedOffset.getUaoSize

  /** Of a record. */
  def bytes(row: UnsafeRow): Int = HeaderBytes + row.getSizeInBytes
}

/** Records in the order of their arrival, each linked to the next. */
private[spark] final class RecordChain(records: Records) {
  private[this] var oldest = 0L
  private[this] var youngest = 0L
  private[this] var length = 0L

  def count: Long = length

  /** The oldest record. */
  def first: Long = oldest

  /** The youngest record. */
  def last: Long = youngest

  def clear(): Unit = length = 0L

  def add(record: Long): Unit = {
    if (length == 0) oldest = record else records.link(youngest, record)
    youngest = record
    length += 1
  }

  /** Each record, oldest first; `visit` may link it anew. */
  def foreach(visit: Long => Unit): Unit = {
    var record = oldest
    var left = length
    while (left > 0) {
      val next = records.next(record) // of the last one it is not used
      visit(record)
      record = next
      left -= 1
    }
  }
}

/**
 * The records of a key, in two chains: those that came in order, each not before any other that
 * had come, and the late ones, which alone have to be sorted. Of equal ones, one in order came
 * before a late one: else that would not have been late.
 */
private[spark] final class RecordList(records: Records, val inOrder: RecordChain) {
  val late = new RecordChain(records)
  private[this] var lastPrefix = 0L // of the youngest one that came in order

  def this(records: Records) = this(records, new RecordChain(records))

  def count: Long = inOrder.count + late.count

  def clear(): Unit = {
    inOrder.clear()
    late.clear()
  }

  /** @param nulls whether the first sort column of a record may be NULL */
  def add(record: Long, prefix: Long, nulls: Boolean): Unit =
    if (
      inOrder.count > 0 && records.outOfOrder(inOrder.last, lastPrefix, record, prefix, nulls)
    ) {
      late.add(record)
    } else {
      inOrder.add(record)
      lastPrefix = prefix
    }

  /** Both chains as if they were in order. */
  def unsorted: JavaIterator[RecordList] =
    Arrays.asList(new RecordList(records, inOrder), new RecordList(records, late)).iterator()

  /** Each record; equal ones in the order of their arrival. */
  def foreach(visit: Long => Unit): Unit = {
    inOrder.foreach(visit)
    late.foreach(visit)
  }
}
