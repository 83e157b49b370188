package io.sash.spark.streams.program

import java.util.Arrays

/**
 * A time, in microseconds, and the values of the program's `marks` in a row of that time. A mark
 * that does not follow from the time is 0.
 */
private[spark] final case class StreamMoment(time: Long, marks: Array[Long])

/** The current row of a key, with its marks and its position among the key's rows. */
private[spark] final class CurrentKeyRow(marks: Int, beginnings: Int) {

  /** The values of the program's `marks` in the current row. */
  var values: Array[Long] = new Array[Long](marks)

  /**
   * The marks of the row before. Of a row that an earlier batch has taken in, only the marks that
   * follow from its time are known; the others are 0.
   */
  var previous: Array[Long] = new Array[Long](marks)

  /** The event times of these two rows, in microseconds. */
  var time: Long = 0L
  var previousTime: Long = 0L

  /** Whether the current row is the key's first. */
  var isFirst: Boolean = true

  /** The number of rows up to and with the current row. */
  var end: Long = 0L

  /** The number of rows before the first peer of the current row, and up to the last peer. */
  var firstPeer: Long = 0L
  var lastPeer: Long = 0L

  /** The number of groups of peers, up to and with the current row's group. */
  var group: Long = 0L

  /** The time of the last row at which the beginning that is tested was. */
  var lastBegin: Long = 0L

  /** For each beginning of the program: whether the row is one. */
  val begins: Array[Boolean] = new Array[Boolean](beginnings)

  // for each peer and each beginning the position of the last row that was one
  private[this] var places: Array[Long] = new Array[Long](beginnings)

  /** The position of the last row, up to the current one, at which windows began. */
  def beginPosition(beginning: Int): Long = places(place(beginning))

  def noteBegin(beginning: Int, position: Long): Unit = {
    if (place(beginning) >= places.length) places = Arrays.copyOf(places, 2 * places.length)
    places(place(beginning)) = position
  }

  private def place(beginning: Int): Int = (end - 1 - firstPeer).toInt * beginnings + beginning

  private[this] var valuesOf = Array.empty[Array[Long]]

  /** Keeps the current row's marks for a peer. */
  def noteValues(peer: Int): Unit = {
    if (peer == valuesOf.length)
      valuesOf = Arrays.copyOf(valuesOf, math.max(8, 2 * peer)).map {
        case null  => new Array[Long](marks)
        case known => known
      }
    System.arraycopy(values, 0, valuesOf(peer), 0, marks)
  }

  /** Gives the current row the marks of a peer. */
  def toValues(peer: Int): Unit = System.arraycopy(valuesOf(peer), 0, values, 0, marks)

  /** Moves on to another row; the caller then writes its marks into `values`. */
  def advance(): Unit = {
    val older = previous
    previous = values
    values = older
    previousTime = time
  }
}
