package io.sash.spark.ordering

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Prefixes of 8 bytes that tell strings apart better than their first 8 bytes do. Timestamps,
 * paths or numbered names share their first bytes, and each place after these has few values,
 * such as ten digits or one hyphen. So a prefix omits the common bytes and packs the next places
 * by mixed radix. The digit of a place is the byte's distance from the least byte at this place.
 *
 * @param fields the number of columns of a row
 * @param column the ordinal of the column with the strings or binaries
 */
private[spark] final class PackedPrefix(records: Records, fields: Int, column: Int) {
  import PackedPrefix._

  private[this] val row = new UnsafeRow(fields)

  // the string of the record that was read last
  private[this] var base: AnyRef = _
  private[this] var start = 0L
  private[this] var size = 0

  private[this] var shared = 0 // bytes that all strings begin with
  private[this] var places = 0 // packed places after the shared bytes
  // the least byte at a place; one less if a string ends there
  private[this] val least = new Array[Int](MostPlaces)
  private[this] val greatest = new Array[Int](MostPlaces)
  private[this] val isEnd = new Array[Boolean](MostPlaces) // whether a string ends there

  /**
   * Fits the prefixes to the strings of a chain, none of them NULL. Afterwards, `prefix` may be
   * called for these strings. A smaller string never has a larger prefix. Cost: two passes over
   * the chain.
   *
   * @return whether strings of equal prefixes are equal
   */
  def fit(chain: RecordChain): Boolean = {
    shared = commonBytes(chain)
    val longest = findRanges(chain)
    places = 0
    var capacity = Long.MaxValue // the number of values left for the next places
    while (places < math.min(longest, MostPlaces) && values(places) <= capacity) {
      capacity /= values(places)
      places += 1
    }
    places == longest
  }

  /** The prefix of a record, as an unsigned number. */
  def prefix(record: Long): Long = {
    read(record)
    var packed = 0L
    var place = 0
    while (place < places) {
      val value = if (shared + place < size) byteAt(place) - least(place) else 0
      packed = packed * values(place) + value
      place += 1
    }
    packed
  }

  private def values(place: Int): Int = greatest(place) - least(place) + 1

  private def byteAt(place: Int): Int = Platform.getByte(base, start + shared + place) & 0xff

  private def read(record: Long): Unit = {
    records.pointTo(record, row)
    val offsetAndSize = row.getLong(column)
    base = row.getBaseObject
    start = row.getBaseOffset + (offsetAndSize >>> 32)
    size = offsetAndSize.toInt
  }

  private def commonBytes(chain: RecordChain): Int = {
    var record = chain.first
    read(record)
    val (firstBase, firstStart) = (base, start)
    var common = size
    var left = chain.count - 1
    while (left > 0 && common > 0) {
      record = records.next(record)
      read(record)
      common = commonBytes(firstBase, firstStart, math.min(common, size))
      left -= 1
    }
    common
  }

  /**
   * The number of first bytes, up to `most`, that the string at `otherStart` shares with the
   * string read last.
   */
  private def commonBytes(otherBase: AnyRef, otherStart: Long, most: Int): Int = {
    var i = 0
    while (
      i < most && Platform.getByte(otherBase, otherStart + i) == Platform.getByte(base, start + i)
    ) i += 1
    i
  }

  /**
   * Finds the range of bytes at each of the first places. Returns the number of places in the
   * longest string.
   */
  private def findRanges(chain: RecordChain): Int = {
    Arrays.fill(least, 255)
    Arrays.fill(greatest, 0)
    Arrays.fill(isEnd, false)
    var longest = 0
    chain.foreach { record =>
      read(record)
      val length = size - shared
      var place = 0
      while (place < math.min(length, MostPlaces)) {
        val byte = byteAt(place)
        if (byte < least(place)) least(place) = byte
        if (byte > greatest(place)) greatest(place) = byte
        place += 1
      }
      if (length < MostPlaces) isEnd(length) = true
      longest = math.max(longest, length)
    }
    for (place <- 0 until MostPlaces if isEnd(place)) least(place) -= 1
    longest
  }
}

private object PackedPrefix {

  /** The greatest number of packed places: it is reached if each place has two values. */
  private val MostPlaces = 63
}
