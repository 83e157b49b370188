package io.sash.papers.fiba

import java.util.Arrays

/**
 * The treelets of a bulk insertion. A treelet is an entry with the child to its right (0 in a
 * leaf), to be inserted into a node. They lie as on a stack: a node's treelets, in order of time,
 * lie above its parent's treelets.
 */
private[fiba] final class Treelets {
  private[this] var capacity = 16
  var length: Int = 0
  var times = new Array[Long](capacity)
  var slots = new Array[Int](capacity)
  var children = new Array[Int](capacity)

  def add(time: Long, slot: Int, child: Int): Unit = {
    if (length == capacity) {
      capacity *= 2
      times = Arrays.copyOf(times, capacity)
      slots = Arrays.copyOf(slots, capacity)
      children = Arrays.copyOf(children, capacity)
    }
    times(length) = time
    slots(length) = slot
    children(length) = child
    length += 1
  }

  /** Removes the treelets [from, until). */
  def remove(from: Int, until: Int): Unit = {
    val count = length - until
    System.arraycopy(times, until, times, from, count)
    System.arraycopy(slots, until, slots, from, count)
    System.arraycopy(children, until, children, from, count)
    length = from + count
  }
}
