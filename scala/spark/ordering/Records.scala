package io.sash.spark.ordering

import java.util.{Arrays, Iterator => JavaIterator}

import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.{Platform, UnsafeAlignedOffset}

/**
 * Reads and writes records in a task's pages, by address. A record has the sort prefix, the
 * address of the next record in its list, the size of the row, and the row.
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

  /** Copies the bytes of a row, which are whole words. For a few words, a loop is faster. */
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
   * Reads a record's first and last word, so that both are in the processor's caches. The result
   * has no meaning.
   */
  def touch(record: Long): Long = {
    val base = manager.getPage(record)
    val at = manager.getOffsetInPage(record)
    val last = at + HeaderBytes + UnsafeAlignedOffset.getSize(base, at + Size) - 8
    Platform.getLong(base, at) ^ Platform.getLong(base, last)
  }

  /**
   * Whether the record that arrived later comes first in the order. The prefixes decide if they
   * can; else the rows are compared.
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

  /** Compares two records by their rows, without their prefixes. */
  def compareRows(left: Long, right: Long): Int = rows.compare(
    manager.getPage(left),
    manager.getOffsetInPage(left) + HeaderBytes,
    0, // the order reads no lengths
    manager.getPage(right),
    manager.getOffsetInPage(right) + HeaderBytes,
    0
  )

  /** Whether this result of comparing the prefixes decides the order. */
  private def isDecided(compared: Int, nulls: Boolean): Boolean =
    compared != 0 || (prefixDecides && !nulls)
}

private[spark] object Records {
  private val Next = 8
  private val Size = 16
  private val CopiedByWords = 128

  /** Bytes of a record before its row. */
  val HeaderBytes: Int = Size + UnsafeAlignedOffset.getUaoSize

  /** Bytes of a record. */
  def bytes(row: UnsafeRow): Int = HeaderBytes + row.getSizeInBytes
}

/** A linked list of records, in the order of their arrival. */
private[spark] final class RecordChain(records: Records) {
  private[this] var oldest = 0L
  private[this] var youngest = 0L
  private[this] var length = 0L

  def count: Long = length

  def first: Long = oldest

  def last: Long = youngest

  def clear(): Unit = length = 0L

  def add(record: Long): Unit = {
    if (length == 0) oldest = record else records.link(youngest, record)
    youngest = record
    length += 1
  }

  /** Visits each record, oldest first. `visit` may link the record into another list. */
  def foreach(visit: Long => Unit): Unit = {
    var record = oldest
    var left = length
    while (left > 0) {
      val next = records.next(record) // the last record's link is not used
      visit(record)
      record = next
      left -= 1
    }
  }
}

/**
 * The records of a key, in two chains. A record is in order if no record that arrived before it
 * belongs after it. All other records are overtaken; they are in `late`, and only they have to be
 * sorted. If an overtaken record equals one in order, the one in order arrived first, since a
 * record that arrives after its overtaken equal is overtaken, too.
 */
private[spark] final class RecordList(records: Records, val inOrder: RecordChain) {
  val late = new RecordChain(records)
  private[this] var lastPrefix = 0L // the prefix of the last record in order

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

  /** Both chains, each as a list of records in order. */
  def unsorted: JavaIterator[RecordList] =
    Arrays.asList(new RecordList(records, inOrder), new RecordList(records, late)).iterator()

  /** Visits each record. Equal records come in the order of their arrival. */
  def foreach(visit: Long => Unit): Unit = {
    inOrder.foreach(visit)
    late.foreach(visit)
  }
}
