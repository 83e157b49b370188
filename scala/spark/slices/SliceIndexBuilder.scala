package io.sash.spark.slices

import java.util.{Arrays, HashMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.unsafe.Platform

/**
 * Makes the bytes of a [[SliceIndex]] from the labels' keys and ranges.
 *
 * An input row has the key's columns, then two BIGINTs for each range: its first and its last
 * time. A range is empty if one of them is NULL, or if it ends before it begins. The last column
 * is a BOOLEAN: false if an end has wrapped around.
 *
 * @param keys the types of the key's columns
 * @param limit the greatest size in bytes. If the index needs more, it is marked as too large
 */
private[slices] final class SliceIndexBuilder(keys: Seq[DataType], limit: Long) {
  import SliceIndex._

  private[this] val isNumber = SliceIndexBuilder.isNumber(keys)
  private[this] val keyOf = UnsafeProjection.create(keys.zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  })

  // numbers the keys in the order of their first rows
  private[this] val numbers = new HashMap[Any, Integer]
  private[this] var rowBytes = 0L
  private[this] var labels = 0

  // for each range: the number of its key, its first time and its last time
  private[this] var of = new Array[Int](1024)
  private[this] var lower = new Array[Long](1024)
  private[this] var upper = new Array[Long](1024)
  private[this] var ranges = 0

  /** Three rows: the table, the starts and the keys' rows. */
  def build(rows: Iterator[InternalRow]): Array[InternalRow] = {
    var state = Complete
    while (state == Complete && rows.hasNext) {
      if (!add(rows.next())) state = Wrapped
      else if (!fits) state = TooLarge
    }
    val index = if (state == Complete) built() else nothing(state)
    val size = index.map(_.asInstanceOf[UnsafeRow].getSizeInBytes.toLong).sum
    if (size <= limit || state != Complete) index else nothing(TooLarge)
  }

  private def fits: Boolean = numbers.size.toLong * EntryBytes + rowBytes <= limit &&
    ranges <= math.min(limit / 4, SliceIndexBuilder.MostRanges)

  private def nothing(state: Int): Array[InternalRow] = {
    val table = bytes(HeaderBytes)
    Platform.putInt(table.getBaseObject, table.getBaseOffset, state)
    Platform.putInt(table.getBaseObject, table.getBaseOffset + 12, labels)
    Array(table, bytes(0), bytes(0))
  }

  private def bytes(size: Int): UnsafeRow = {
    val row = new UnsafeRow(0)
    val padded = (size + 7) / 8 * 8
    row.pointTo(new Array[Byte](padded), padded)
    row
  }

  private def add(row: InternalRow): Boolean = {
    labels += 1
    val last = row.numFields - 1
    var number = -1
    var at = keys.length
    while (at < last) {
      if (!row.isNullAt(at) && !row.isNullAt(at + 1)) {
        val (from, until) = (row.getLong(at), row.getLong(at + 1))
        if (from <= until) {
          if (number < 0) number = numberOf(row)
          add(number, from, until)
        }
      }
      at += 2
    }
    row.isNullAt(last) || row.getBoolean(last)
  }

  private def add(number: Int, from: Long, until: Long): Unit = {
    if (ranges == of.length) {
      of = Arrays.copyOf(of, 2 * ranges)
      lower = Arrays.copyOf(lower, 2 * ranges)
      upper = Arrays.copyOf(upper, 2 * ranges)
    }
    of(ranges) = number
    lower(ranges) = from
    upper(ranges) = until
    ranges += 1
  }

  private def numberOf(row: InternalRow): Int = {
    val key: Any =
      if (!isNumber) keyOf(row)
      else if (row.isNullAt(0)) SliceIndexBuilder.Null
      else row.getLong(0)
    val known = numbers.get(key)
    if (known != null) known
    else {
      val number = numbers.size
      key match {
        case of: UnsafeRow =>
          numbers.put(of.copy(), number)
          rowBytes += of.getSizeInBytes + 8
        case of => numbers.put(of, number)
      }
      number
    }
  }

  private def built(): Array[InternalRow] = {
    // a counting sort of the ranges by key
    val count = numbers.size
    val firsts = new Array[Int](count + 1)
    var i = 0
    while (i < ranges) {
      firsts(of(i) + 1) += 1
      i += 1
    }
    i = 0
    while (i < count) {
      firsts(i + 1) += firsts(i)
      i += 1
    }
    val (begins, ends) = (new Array[Long](ranges), new Array[Long](ranges))
    val next = firsts.clone()
    i = 0
    while (i < ranges) {
      val at = next(of(i))
      begins(at) = lower(i)
      ends(at) = upper(i)
      next(of(i)) += 1
      i += 1
    }
    val slices = new SliceList
    val firstSlice = new Array[Int](count + 1)
    i = 0
    while (i < count) {
      slices.addOf(begins, ends, firsts(i), firsts(i + 1))
      firstSlice(i + 1) = slices.length
      i += 1
    }
    written(firstSlice, slices)
  }

  private def written(firstSlice: Array[Int], slices: SliceList): Array[InternalRow] = {
    val count = numbers.size
    var capacity = 16
    while (capacity < count + count / 2) capacity *= 2
    // one more entry, at the end, is for the key NULL
    val size = HeaderBytes + (capacity + 1L) * EntryBytes
    if (size + rowBytes + slices.bytes > limit) nothing(TooLarge)
    else {
      val table = bytes(size.toInt)
      val rows = bytes(rowBytes.toInt)
      val (base, start) = (table.getBaseObject, table.getBaseOffset)
      Platform.putInt(base, start, Complete)
      Platform.putInt(base, start + 4, capacity - 1)
      Platform.putInt(base, start + 8, slices.length)
      Platform.putInt(base, start + 12, labels)
      def at(entry: Int) = start + HeaderBytes + entry.toLong * EntryBytes
      def free(hash: Int) = {
        var entry = hash & (capacity - 1)
        while (Platform.getInt(base, at(entry) + 12) != 0) entry = (entry + 1) & (capacity - 1)
        entry
      }
      var rowAt = 0
      numbers.forEach { (key, number) =>
        val entry = key match {
          case of: UnsafeRow =>
            val entry = free(of.hashCode)
            Platform.putInt(base, at(entry), rowAt)
            Platform.putInt(base, at(entry) + 4, of.hashCode)
            Platform.putLong(rows.getBaseObject, rows.getBaseOffset + rowAt, of.getSizeInBytes)
            of.writeToMemory(rows.getBaseObject, rows.getBaseOffset + rowAt + 8)
            rowAt += of.getSizeInBytes + 8
            entry
          case of: Long =>
            val entry = free(hash(of))
            Platform.putLong(base, at(entry), of)
            entry
          case _ => capacity
        }
        Platform.putInt(base, at(entry) + 8, firstSlice(number))
        Platform.putInt(base, at(entry) + 12, firstSlice(number + 1))
      }
      Array(table, slices.written(bytes(slices.bytes.toInt)), rows)
    }
  }
}

private[slices] object SliceIndexBuilder {

  /** Stands for the key NULL, if keys are numbers. */
  private object Null

  /** A range may bring two slices of eight bytes, and an array has less than 2^31^ bytes. */
  private val MostRanges = 1L << 26

  /** Whether the table has the key as a number. If not, the key is a row. */
  def isNumber(keys: Seq[DataType]): Boolean = keys == Seq(LongType)
}

/** The slices of one key after the other: their starts, and whether a range holds them. */
private final class SliceList {
  private[this] var starts = new Array[Long](1024)
  private[this] val held = new java.util.BitSet
  var length = 0

  /** Adds the slices of one key, whose ranges have the indices from `first` until `end`. */
  def addOf(begins: Array[Long], ends: Array[Long], first: Int, end: Int): Unit = {
    Arrays.sort(begins, first, end)
    Arrays.sort(ends, first, end)
    var (b, e) = (first, first) // the next range to begin, and the next one to end
    var isLast = false
    while (!isLast) {
      // a range ends after its last time
      val atEnd = b == end || ends(e) < begins(b)
      val start = if (atEnd) ends(e) + 1 else begins(b)
      while (b < end && begins(b) == start) b += 1
      while (e < end && ends(e) != Long.MaxValue && ends(e) + 1 == start) e += 1
      add(start, b > e)
      isLast = b == end && (e == end || ends(e) == Long.MaxValue)
    }
  }

  private def add(start: Long, isHeld: Boolean): Unit = {
    if (length == starts.length) starts = Arrays.copyOf(starts, 2 * length)
    starts(length) = start
    held.set(length, isHeld)
    length += 1
  }

  def bytes: Long = length * 8L + (length + 7) / 8

  def written(row: UnsafeRow): UnsafeRow = {
    val (base, at) = (row.getBaseObject, row.getBaseOffset)
    var i = 0
    while (i < length) {
      Platform.putLong(base, at + i * 8L, starts(i))
      i += 1
    }
    val bits = held.toByteArray
    i = 0
    while (i < bits.length) {
      Platform.putByte(base, at + length * 8L + i, bits(i))
      i += 1
    }
    row
  }
}
