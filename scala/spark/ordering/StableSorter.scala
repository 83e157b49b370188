package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.util.collection.unsafe.sort.RecordComparator

/**
 * Spark's sorter, with rows that tie in the order of their arrival. Spark's sorter keeps that
 * order in memory, but loses it after a spill, when it merges files by a priority queue. So each
 * row carries its number in 8 bytes after its own, and the number decides ties.
 *
 * Cost: a copy of each row as it arrives.
 */
private[spark] final class StableSorter(order: RowOrder) {
  import StableSorter._

  private[this] val sorter = order.sorter(() => new ByArrival(order.recordComparator))
  private[this] val numbered = new UnsafeRow(order.input.length)
  private[this] val row = new UnsafeRow(order.input.length)
  private[this] var buffer = new Array[Byte](256)
  private[this] var number = 0L

  /** Rows that have arrived. */
  def count: Long = number

  def insert(row: UnsafeRow): Unit = {
    val size = row.getSizeInBytes
    if (size + NumberBytes > buffer.length) buffer = new Array[Byte](2 * (size + NumberBytes))
    val start = Platform.BYTE_ARRAY_OFFSET.toLong
    Platform.copyMemory(row.getBaseObject, row.getBaseOffset, buffer, start, size.toLong)
    Platform.putLong(buffer, start + size, number)
    numbered.pointTo(buffer, start, size + NumberBytes)
    sorter.insertRow(numbered)
    number += 1
  }

  /** All rows in order, each valid until the next. */
  def sorted(): Iterator[UnsafeRow] = {
    val sorted = sorter.sort()
    new Iterator[UnsafeRow] {
      override def hasNext: Boolean = sorted.hasNext

      override def next(): UnsafeRow = {
        val next = sorted.next().asInstanceOf[UnsafeRow]
        row.pointTo(next.getBaseObject, next.getBaseOffset, next.getSizeInBytes - NumberBytes)
        row
      }
    }
  }

  def sortNanos: Long = sorter.getSortTimeNanos
}

private object StableSorter {
  private val NumberBytes = 8

  /** Compares rows by `order`, and in a tie by their numbers. */
  private final class ByArrival(order: RecordComparator) extends RecordComparator {
    override def compare(
        leftBase: AnyRef,
        leftOffset: Long,
        leftLength: Int,
        rightBase: AnyRef,
        rightOffset: Long,
        rightLength: Int
    ): Int = {
      val compared =
        order.compare(leftBase, leftOffset, leftLength, rightBase, rightOffset, rightLength)
      if (compared != 0) compared
      else
        java.lang.Long.compare(
          Platform.getLong(leftBase, leftOffset + leftLength - NumberBytes),
          Platform.getLong(rightBase, rightOffset + rightLength - NumberBytes)
        )
    }
  }
}
