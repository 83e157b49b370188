package io.sash.spark.ordering

import java.util.Comparator

import org.apache.spark.sash.SparkInternals
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.{RadixSort, RecordPointerAndKeyPrefix}
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators.RadixSortSupport

/**
 * Sorts the overtaken records of one key at a time. It sorts an array of pointers and prefixes:
 * by Spark's radix sort if there are many records and prefixes decide, else by Spark's adaptive
 * merge sort.
 *
 * Consecutive records may lie far apart in memory. So before a batch of them goes out, a loop
 * touches the whole batch, and the processor waits for all its cache misses at once.
 *
 * `plan` returns the size of the array that the sort needs. The caller allocates it outside its
 * turn (`Turns`), since a thread in its turn must not acquire memory.
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

  // set by `plan`: the records of a key, and how to compare them
  private[this] var late: RecordChain = _
  private[this] var packed = false
  private[this] var decides = false
  private[this] var radix: RadixSortSupport = _ // null if the sort merges

  /** A pointer and a prefix for each record, then the space that the sort needs. */
  private[this] var pointers: LongArray = _

  // positions in `pointers`: the first record, the end of its batch, and the end of all records
  private[this] var at = 0
  private[this] var batchEnd = 0
  private[this] var end = 0

  private[this] var nanos = 0L
  // kept in a field, else the JIT compiler would drop the reads as unused
  private[this] var read = 0L

  def isEmpty: Boolean = at == end

  /** The next record in order. */
  def first: Long = pointers.get(at)

  def removeFirst(): Unit = {
    at += Longs
    if (at == batchEnd && at < end) readAhead()
  }

  def count: Long = (end - at) / Longs

  /** Nanoseconds that the last `sort` took. */
  def sortNanos: Long = nanos

  /**
   * Chooses how to sort the overtaken records of the next key.
   *
   * @param nulls whether the first sort column of a record may be NULL
   * @return the size, in longs, of the array that the sort needs
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

  /** The size of the current array in longs. */
  def room: Long = if (pointers == null) 0L else pointers.size

  /** Makes `array` the current one and returns the former one; both may be null. */
  def use(array: LongArray): LongArray = {
    val before = pointers
    pointers = array
    at = 0
    end = 0
    before
  }

  /** Sorts the planned records; the records of the key before are gone. */
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

  /** Returns the position of the first sorted record. */
  private def sortByRadix(): Int = {
    val (descending, signed) = (radix.sortDescending, radix.sortSigned)
    RadixSort.sortKeyPrefixArray(pointers, 0, late.count, 0, 7, descending, signed)
  }

  private def sortByMerging(): Int = {
    val comparator = if (decides) byPrefix else byRow
    SparkInternals.mergeSort(pointers, late.count.toInt, behind(late.count), comparator)
    0
  }

  /** The part of the array after `count` records. */
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

  /** The longs that a record takes in the array. */
  private val Longs = 2

  /** The largest array: it fits a page, and the number of its records fits an Int. */
  val MostLongs: Long = 1L << 30

  /** With fewer records, the byte counts of a radix sort take longer than insertions do. */
  private val FewestByRadix = 32

  /** The records in a batch: more than the reads that a processor has in flight. */
  private val ReadAhead = 64
}
