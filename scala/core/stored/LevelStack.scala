package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Partials}
import io.sash.core.stored.RadixTree.NoElement

/**
 * The entries of one level in the front of a [[RadixWindow]]. They belong to one node, and need
 * not begin with its first entry.
 */
private[sash] final class LevelStack(val entries: Entries, logFanOut: Int) {
  private[this] val mask = (1 << logFanOut) - 1
  private[this] var node = 0L
  private[this] var low = 0
  private[this] var high = 0
  private[this] var used = false

  def isEmpty: Boolean = low == high

  /** Whether all entries hold aggregates up to the boundary; if not, only the first does. */
  def isUsed: Boolean = used

  def number: Long = node

  def firstEntry: Long = (node << logFanOut) + low

  def lastEntry: Long = (node << logFanOut) + high - 1

  /** The slot of the aggregate from the first entry to the boundary. */
  def first: Int = entries.slot(low)

  /** The time of the first element from the beginning of the first entry on. */
  def firstTime: Long = entries.times(low)

  /** The time of the first element from the beginning of this entry on. */
  def timeOf(entry: Long): Long = entries.times((entry & mask).toInt)

  /** The last entry whose time is before `time`. The first entry must be one. */
  def lastBefore(time: Long): Long = {
    var i = low
    while (i + 1 < high && entries.times(i + 1) < time) i += 1
    (node << logFanOut) + i
  }

  def clear(): Unit = {
    low = 0
    high = 0
  }

  def set(number: Long, first: Long, end: Long): Unit = {
    node = number
    low = (first - (number << logFanOut)).toInt
    high = (end - (number << logFanOut)).toInt
    used = false
  }

  def dropTo(entry: Long): Unit = low = (entry & mask).toInt

  /** Removes the first entry and returns its number. */
  def pop(): Long = {
    val entry = firstEntry
    low += 1
    entry
  }

  /**
   * Replaces each entry by the aggregate from that entry to the boundary.
   *
   * @param rest the stack of the entries behind these, or null if there are none
   */
  def aggregate(partials: Partials, rest: LevelStack): Unit = {
    val last = high - 1
    if (rest != null) {
      partials.combine(entries.slot(last), entries.slot(last), rest.first)
      if (entries.times(last) == NoElement) entries.times(last) = rest.firstTime
    }
    partials.suffixes(entries.slot(low), entries.slot(last))
    var i = last - 1
    while (i >= low) {
      if (entries.times(i) == NoElement) entries.times(i) = entries.times(i + 1)
      i -= 1
    }
    used = true
  }

  /** Adds a partial to each aggregate that includes the given entry. */
  def amend(partials: Partials, entry: Long, time: Long, slot: Int): Unit = {
    val until =
      math.min(if (used) high else math.min(low + 1, high), entry - (node << logFanOut) + 1)
    var i = low
    while (i < until) {
      partials.combine(entries.slot(i), entries.slot(i), slot)
      entries.times(i) = math.min(entries.times(i), time)
      i += 1
    }
  }

  /** @param isWhole whether all entries are written, or only the first */
  def write(out: Bytes, tree: RadixTree, isWhole: Boolean): Unit = {
    out.putNumber(node)
    out.putNumber(low)
    out.putNumber(high)
    tree.writeEntries(out, entries, low, if (isWhole) high else math.min(low + 1, high))
  }

  def read(in: ByteBuffer, tree: RadixTree, isWhole: Boolean): Unit = {
    node = Bytes.number(in)
    low = Bytes.number(in).toInt
    high = Bytes.number(in).toInt
    tree.readEntries(in, entries, low, if (isWhole) high else math.min(low + 1, high))
    used = isWhole
  }
}
