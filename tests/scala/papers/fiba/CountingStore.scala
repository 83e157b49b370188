package io.sash.papers.fiba

import scala.collection.mutable

import io.sash.core.TestColumn

/** A store that counts which nodes an operation reads and writes. */
final class CountingStore(initial: TestColumn[_], minArity: Int)
    extends NodeStore(initial, minArity) {
  private val read, changed = mutable.Set.empty[Int]
  private val second = mutable.Set.empty[Int] // units of inner nodes that are not their numbers
  private var searched = -1

  /** Steps from a node to a child since the last `flush`. */
  var steps = 0L

  /** The number of nodes read or written since the last `flush`. */
  def touched: Int = (read ++ changed).size

  /** The number of nodes written since the last `flush`. */
  def written: Int = changed.size

  /** The number of nodes read from the last `flush` to the first change after it. */
  def searchTouched: Int = if (searched < 0) read.size else searched

  def flush(): Unit = {
    read.clear()
    changed.clear()
    searched = -1
    steps = 0
  }

  private def change(place: Int): Unit = {
    if (searched < 0) searched = read.size
    val unit = place & -maxArity
    changed += (if (second(unit)) unit - maxArity else unit)
  }

  override def allocate(level: Int): Int = {
    val node = super.allocate(level)
    change(node)
    if (level > 0) second += node + maxArity
    node
  }

  override def arity(node: Int): Int = {
    read += node
    super.arity(node)
  }

  override def time(node: Int, i: Int): Long = {
    read += node
    super.time(node, i)
  }

  override def child(node: Int, i: Int): Int = {
    steps += 1
    super.child(node, i)
  }

  override protected[this] def setWord(place: Int, word: Long): Unit = {
    change(place)
    super.setWord(place, word)
  }

  override protected[this] def moveWords(dst: Int, src: Int, count: Int): Unit = {
    if (count > 0) change(dst)
    super.moveWords(dst, src, count)
  }
}
