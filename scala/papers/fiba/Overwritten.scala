package io.sash.papers.fiba

import java.util.Arrays

/**
 * A log of the places of an array, or of a column, that an operation overwrites, with old values.
 */
private[fiba] final class Overwritten {
  private[this] var places = new Array[Int](64)
  private[this] var values = new Array[Long](64)
  private[this] var count = 0

  def length: Int = count

  def add(place: Int, value: Long): Unit = {
    if (count == places.length) {
      places = Arrays.copyOf(places, 2 * count)
      values = Arrays.copyOf(values, 2 * count)
    }
    places(count) = place
    values(count) = value
    count += 1
  }

  /** Puts all old values back, from the last to the first, and empties the log. */
  def undo(put: (Int, Long) => Unit): Unit =
    while (count > 0) {
      count -= 1
      put(places(count), values(count))
    }

  def clear(): Unit = count = 0
}

/** A stack of node numbers. */
private[fiba] final class NodeList {
  private[this] var nodes = new Array[Int](16)
  private[this] var count = 0

  def length: Int = count

  def last: Int = nodes(count - 1)

  def add(node: Int): Unit = {
    if (count == nodes.length) nodes = Arrays.copyOf(nodes, 2 * count)
    nodes(count) = node
    count += 1
  }

  def removeLast(): Int = {
    count -= 1
    nodes(count)
  }

  def clear(): Unit = count = 0
}
