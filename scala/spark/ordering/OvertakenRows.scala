package io.sash.spark.ordering

import java.util.Comparator

import org.apache.spark.sash.SparkInternals
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.{RadixSort, RecordPointerAndKeyPrefix}
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators.RadixSortSupport

/**
 * The overtaken records of one key at a time, in order: first, then without it. They are sorted by
 * pointers and prefixes: by Spark's radix sort if they are many and prefixes decide, else by its
 * adaptive merge sort.
 *
 * Sorted records lie anywhere in memory. A batch of them is read before they go out, in a loop
 * that does nothing else, so that the processor waits for all of them at once.
 *
 * The array to sort in is the caller's to get, since that takes memory: `plan` says how large.
 */
private[spark] final class OvertakenRows(records: Records, order: RowOrder) {
  import OvertakenRows._

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

  // what is planned: the records of a key, and how they are compared
  private[this] var late: RecordChain = _
  private[this] var packed = false
  private[this] var decides = false
  private[this] var radix: RadixSortSupport = _ // null where it does not serve

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

  def count: Long = (end - at) / Longs

  /** What the last `sort` took. */
  def sortNanos: Long = nanos

  /**
   * Plans to sort a key's late records next.
   *
   * @param nulls whether the first sort column of a record may be NULL
   * @return longs of the array that it takes
   */
  def plan(next: RecordChain, nulls: Boolean): Long = {
    late = next
    packed = strings != null && !nulls
    decides = !nulls && (if (packed) strings.fit(late) && oneColumn else prefixDecides)
    radix = prefixes match {
      case r: RadixSortSupport if decides && order.radix && late.count >= FewestByRadix => r
      case _                                                                            => null
    }
    late.count * (if (radix != null) 2 * Longs else Longs + Longs / 2)
  }

  /** Longs of the array that is here. */
  def room: Long = if (pointers == null) 0L else pointers.size

  /** Takes an array in the place of the one before, which is answered; both may be null. */
  def use(array: LongArray): LongArray = {
    val before = pointers
    pointers = array
    at = 0
    end = 0
    before
  }

  /** Takes the records that are planned in the place of those before. */
  def sort(): Unit = {
    load()
    val start = System.nanoTime()
    at = if (radix != null) sortByRadix() else sortByMerging()
    nanos = System.nanoTime() - start
    end = at + Longs * late.count.toInt
    readAhead()
  }

  private def load(): Unit = {
    var i = 0
    late.foreach { record =>
      pointers.set(i, record)
      pointers.set(i + 1, if (packed) strings.prefix(record) else records.prefix(record))
      i += Longs
    }
  }

  /** Where in the array the sorted ones are. */
  private def sortByRadix(): Int = {
    val (descending, signed) = (radix.sortDescending, radix.sortSigned)
    RadixSort.sortKeyPrefixArray(pointers, 0, late.count, 0, 7, descending, signed)
  }

  private def sortByMerging(): Int = {
    val comparator = if (decides) byPrefix else byRow
    SparkInternals.mergeSort(pointers, late.count.toInt, behind(late.count), comparator)
    0
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

private[spark] object OvertakenRows {

  /** Of an array, for a record. */
  private val Longs = 2

  /** Of an array: as many as fit a page, with as many records as an Int counts. */
  val MostLongs: Long = 1L << 30

  /** With fewer, counting bytes takes longer than inserting each in its place. */
  private val FewestByRadix = 32

  /** Records that are read at once: more than reads that a processor has on their way. */
  private val ReadAhead = 64
}
