package io.sash.core.stored

/**
 * Reads the elements of a tree in order and loads each node once.
 *
 * @param entries the place for a loaded node, which the caller leaves alone
 */
private[sash] final class NodeCursor(tree: RadixTree, entries: Entries) {
  private[this] val mask = (1 << tree.logFanOut) - 1
  private[this] var node = -1L

  def clear(): Unit = node = -1L

  def slot(position: Long): Int =
    if (tree.isInEdge(position)) tree.element(position)
    else {
      load(position)
      entries.slot((position & mask).toInt)
    }

  def time(position: Long): Long =
    if (tree.isInEdge(position)) tree.timeOf(position)
    else {
      load(position)
      entries.times((position & mask).toInt)
    }

  private def load(position: Long): Unit = {
    val number = position >> tree.logFanOut
    if (node != number) {
      tree.load(0, number, entries)
      node = number
    }
  }
}
