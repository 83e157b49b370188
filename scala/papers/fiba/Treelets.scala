package io.sash.papers.fiba

import java.util.Arrays

/**
 * The events of one level of a bulk insertion, in order of time. An event is a treelet: an entry
 * with the child to its right (0 in a leaf), to be inserted into its target. An event with the
 * slot `Recompute` says only that the target has changed.
 */
private[fiba] final class Treelets {
  private[this] var capacity = 16
  var length: Int = 0
  var targets = new Array[Int](capacity)
  var times = new Array[Long](capacity)
  var slots = new Array[Int](capacity)
  var children = new Array[Int](capacity)

  def add(target: Int, time: Long, slot: Int, child: Int): Unit = {
    if (length == capacity) grow()
    targets(length) = target
    times(length) = time
    slots(length) = slot
    children(length) = child
    length += 1
  }

  private def grow(): Unit = {
    capacity *= 2
    targets = Arrays.copyOf(targets, capacity)
    times = Arrays.copyOf(times, capacity)
    slots = Arrays.copyOf(slots, capacity)
    children = Arrays.copyOf(children, capacity)
  }

  /** The end of the run of events, from `from` on, with the same target. */
  def groupEnd(from: Int): Int = {
    var until = from + 1
    while (until < length && targets(until) == targets(from)) until += 1
    until
  }

  /** How many of the events of a group are insertions. */
  def insertions(from: Int, until: Int): Int = {
    var count = 0
    var i = from
    while (i < until) {
      if (slots(i) != Treelets.Recompute) count += 1
      i += 1
    }
    count
  }
}

private[fiba] object Treelets {
  final val Recompute = -1
}
