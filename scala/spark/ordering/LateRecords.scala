package io.sash.spark.ordering

import java.util.Comparator

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sash.SparkInternals
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.{RadixSort, RecordPointerAndKeyPrefix}
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators.RadixSortSupport

/**
 * The late records of one key at a time, in order: first, then without it. They are sorted by
 * pointers and prefixes: by Spark's radix sort if they are many and prefixes decide, else by its
 * adaptive merge sort.
 *
 * Sorted records lie anywhere in memory. A batch of them is read before they go out, in a loop
 * that does nothing else, so that the processor waits for all of them at once.
 */
private[spark] final class LateRecords(rows: KeyedRows, order: RowOrder) {
  import LateRecords._

  private[this] val records = rows.records
  private[this] val prefixes = order.prefixComparator
  private[this] val prefixDecides = order.prefixDecides
  private[this] val oneColumn = order.order.length == 1
  private[this] val strings =
    order.bytesColumn.map(new PackedPrefix(records, order.input.length, _)).orNull
  private[this] val byPrefix: Comparator[RecordPointerAndKeyPrefix] =
    (left, right) => prefixes.compare(left.keyPrefix, right.keyPrefix)
  private[this] val byRow: Comparator[RecordPointerAndKeyPrefix] = (left, right) => {
    val compared = byPrefix.compare(left, right)
    if (compared != 0) compared else records.compareRows(left.recordPointer, right.recordPointer)
  }

  /** A pointer and a prefix for each record, and the room that sorting them takes. */
  private[this] var pointers: LongArray = _

  // where the pointers are of the first, behind the last of its batch, and behind the last
  private[this] var at = 0
  private[this] var batchEnd = 0
  private[this] var end = 0

  private[this] var nanos = 0L
  private[this] var read = 0L // kept, else reading ahead would be left out as of no use

  def isEmpty: Boolean = at == end

  /** The record that is the next in order. */
  def first: Long = pointers.get(at)

  def removeFirst(): Unit = {
    at += Longs
    if (at == batchEnd && at < end) readAhead()
  }

  /** What the last `sort` took. */
  def sortNanos: Long = nanos

  /**
   * Takes a key's late records in the place of those before.
   *
   * @param nulls whether the first sort column of a record may be NULL
   * @return false, and there are none, if there is no memory to sort in
   */
  def sort(late: RecordChain, nulls: Boolean): Boolean = {
    at = 0
    end = 0
    late.count <= MostSorted && {
      try {
        val packed = strings != null && !nulls
        val decides =
          !nulls && (if (packed) strings.fit(late) && oneColumn else prefixDecides)
        prefixes match {
          case radix: RadixSortSupport if decides && order.radix && late.count >= FewestByRadix =>
            load(late, packed, longsForEach = 2 * Longs)
            timed {
              at = RadixSort.sortKeyPrefixArray(
                pointers,
                0,
                late.count,
                0,
                7,
                radix.sortDescending,
                radix.sortSigned
              )
            }
          case _ =>
            load(late, packed, longsForEach = Longs + Longs / 2)
            timed {
              SparkInternals.mergeSort(
                pointers,
                late.count.toInt,
                behind(late.count),
                if (decides) byPrefix else byRow
              )
            }
        }
        end = at + Longs * late.count.toInt
        readAhead()
        true
      } catch { case _: SparkOutOfMemoryError => false }
    }
  }

  def free(): Unit = if (pointers != null) {
    rows.freeArray(pointers)
    pointers = null
  }

  private def load(late: RecordChain, packed: Boolean, longsForEach: Int): Unit = {
    val longs = longsForEach * late.count
    if (pointers == null || pointers.size < longs) {
      free()
      pointers = rows.allocateArray(longs)
    }
    var i = 0
    late.foreach { record =>
      pointers.set(i, record)
      pointers.set(i + 1, if (packed) strings.prefix(record) else records.prefix(record))
      i += Longs
    }
  }

  /** What of the array is behind so many records. */
  private def behind(count: Long): LongArray = {
    val used = 8 * Longs * count
    new LongArray(
      new MemoryBlock(
        pointers.getBaseObject,
        pointers.getBaseOffset + used,
        8 * pointers.size - used
      )
    )
  }

  private def timed(sort: => Unit): Unit = {
    val start = System.nanoTime()
    sort
    nanos = System.nanoTime() - start
  }

  private def readAhead(): Unit = {
    batchEnd = math.min(at + Longs * ReadAhead, end)
    var i = at
    var words = 0L
    while (i < batchEnd) {
      words ^= records.touch(pointers.get(i))
      i += Longs
    }
    read = words
  }
}

private object LateRecords {

  /** Of an array, for a record. */
  private val Longs = 2

  /** Records whose pointers fit an array, room to sort them included. */
  private val MostSorted = 1L << 28

  /** With fewer, counting bytes takes longer than inserting each in its place. */
  private val FewestByRadix = 32

  /** Records that are read at once: more than reads that a processor has on their way. */
  private val ReadAhead = 64
}
