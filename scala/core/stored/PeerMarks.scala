package io.sash.core.stored

import java.util.Arrays

/**
 * The time and the marks of a stream's current rows, which are one group of peers, and of the row
 * before them. A mark is a number that a row has for a frame, such as the first time in its
 * window. Rows are numbered as their elements are.
 *
 * @param marks the number of marks of a row
 */
private[sash] final class PeerMarks(marks: Int) {

  /** The time of the peers. */
  var time: Long = 0L
  private[this] var timeBefore = 0L
  private[this] var knowsBefore = false // whether the row before the peers came just before them

  /** The number of the first peer. */
  var firstPeer: Long = 0L

  /** The number after the last peer's. */
  var lastPeer: Long = 0L

  /** The number of groups of peers so far, this one included. */
  var group: Long = 0L

  // the marks of the row before the peers, and of each peer
  private[this] var values = Array.fill(2)(new Array[Long](marks))

  /** Begins with the last row before the state was read; the caller sets its marks. */
  def open(time: Long, end: Long): Unit = {
    firstPeer = end - 1
    lastPeer = end
    knowsBefore = false
    this.time = time
  }

  /**
   * Moves on to another group of peers; the caller sets their marks. If rows come long before
   * they are asked for, this group need not follow the last one directly.
   */
  def begin(time: Long, firstPeer: Long, count: Int, group: Long): Unit = {
    val last = (lastPeer - this.firstPeer).toInt
    val before = values(last)
    values(last) = values(0)
    values(0) = before
    timeBefore = this.time
    knowsBefore = firstPeer == lastPeer
    this.time = time
    this.firstPeer = firstPeer
    this.lastPeer = firstPeer + count
    this.group = group
    if (count >= values.length) grow(count + 1)
  }

  private def grow(rows: Int): Unit = {
    val before = values.length
    values = Arrays.copyOf(values, math.max(rows, 2 * before))
    var i = before
    while (i < values.length) {
      values(i) = new Array[Long](marks)
      i += 1
    }
  }

  /** The marks of a peer, or of the row before. */
  def of(row: Long): Array[Long] = values((row - firstPeer + 1).toInt)

  /** The time of a peer, or of the row before. */
  def timeOf(row: Long): Long = if (row >= firstPeer) time else timeBefore

  /** Whether `row` is a peer, or the row before if that is known. */
  def has(row: Long): Boolean =
    row < lastPeer && (if (knowsBefore) row >= firstPeer - 1 else row >= firstPeer)
}
