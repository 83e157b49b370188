package io.sash.spark.ordering

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Prefixes of strings that hold more of them than their first 8 bytes. Of timestamps, paths or
 * numbered names as text, all begin with the same bytes, and behind those a place has a few
 * values, such as ten digits or one hyphen. So a prefix leaves out what all of them begin with, and
 * packs the places that follow by mixed radix, each by its distance from the least byte there.
 *
 * @param column where in their rows the strings are, or the binaries
 */
private[spark] final class PackedPrefix(records: Records, fields: Int, column: Int) {
  import PackedPrefix._

  private[this] val row = new UnsafeRow(fields)

  // the string of the record that was read last
  private[this] var base: AnyRef = _
  private[this] var start = 0L
  private[this] var size = 0

  private[this] var shared = 0 // bytes with which all strings begin
  private[this] var places = 0 // behind them, that are packed
  private[this] val least = new Array[Int](MostPlaces) // the byte at a place; an end is less by 1
  private[this] val greatest = new Array[Int](MostPlaces)
  private[this] val isEnd = new Array[Boolean](MostPlaces) // of a string

  /**
   * Fits prefixes to strings, none of them NULL, of which each takes one from then on: smaller
   * strings, smaller prefixes.
   *
   * @return whether strings of equal prefixes are equal
   */
  def fit(chain: RecordChain): Boolean = {
    shared = commonBytes(chain)
    val longest = findRanges(chain)
    places = 0
    var capacity = Long.MaxValue // of the places that are left
    while (places < math.min(longest, MostPlaces) && values(places) <= capacity) {
      capacity /= values(places)
      places += 1
    }
    places == longest
  }

  /** To be compared without a sign. */
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

  /** How many of the first bytes, at most so many, are those of the string that was read last. */
  private def commonBytes(otherBase: AnyRef, otherStart: Long, most: Int): Int = {
    var i = 0
    while (
      i < most && Platform.getByte(otherBase, otherStart + i) == Platform.getByte(base, start + i)
    ) i += 1
    i
  }

  /** Finds which values the first places have; the number of places of the longest string. */
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

  /** As many as fit if each has two values. */
  private val MostPlaces = 63
}
