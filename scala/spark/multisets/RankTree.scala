package io.sash.spark.multisets

import java.util.Arrays

/**
 * A multiset of numbers that finds its n-th number: a B+-tree whose entries count the numbers
 * below them.
 *
 * Invariants:
 *  - (I1) keys ascend; an inner entry's key is at most every key below it, and above every key
 *    before it; only the first entry's key may be anything
 *  - (I2) a leaf entry's count is the multiplicity of its key. An inner entry's count is the sum
 *    of the counts below it, or the number of keys below it if the tree counts each key once
 *  - (I3) only a root that is a leaf may be empty: any other node is removed with its last entry
 *
 * Cost: O(log n) for each operation, where n is the largest number of keys since the tree was
 * last empty. Space: a node is at least half full when it is split off, and is removed when it is
 * empty.
 *
 * @param ofKeys whether ranks and counts are of the different numbers, each once
 */
private[spark] final class RankTree(ofKeys: Boolean = false) {
  import RankTree.{Arity, NodeBytes}

  private var nodes = 0L
  private[this] var root = new Node(leaf = true)
  private[this] var sum = 0L

  /** By how much the last addition or removal has changed the count. */
  private var change = 0L

  /** The count of all numbers. */
  def size: Long = sum

  /** The estimated size of the nodes. */
  def bytes: Long = nodes * NodeBytes

  def clear(): Unit = {
    nodes = 0L
    root = new Node(leaf = true)
    sum = 0L
  }

  def add(key: Long): Unit = {
    val split = root.add(key)
    sum += change
    if (split != null) {
      val above = new Node(leaf = false)
      above.put(0, root.keys(0), root.total, root)
      above.put(1, split.keys(0), split.total, split)
      root = above
    }
  }

  /** Removes one occurrence of the key, which must be in the tree. */
  def remove(key: Long): Unit = {
    root.remove(key)
    sum -= change
    while (!root.leaf && root.length == 1) {
      root = root.children(0)
      nodes -= 1
    }
  }

  /** The number at a rank from 0 to size - 1. */
  def select(rank: Long): Long = {
    var node = root
    var left = rank
    while (true) {
      var i = 0
      while (left >= node.counted(i)) {
        left -= node.counted(i)
        i += 1
      }
      if (node.leaf) return node.keys(i)
      node = node.children(i)
    }
    throw new IllegalStateException("unreachable")
  }

  /** How many numbers are less than the key. */
  def countBelow(key: Long): Long = rankOf(key, up = 0)

  /** How many numbers are at most the key. */
  def countUpTo(key: Long): Long = rankOf(key, up = 1)

  /** The count of numbers less than the key, plus `up` times the key's multiplicity. */
  private def rankOf(key: Long, up: Int): Long = {
    var node = root
    var rank = 0L
    while (!node.leaf) {
      val i = node.below(key)
      rank += node.totalUntil(i)
      node = node.children(i)
    }
    val i = Arrays.binarySearch(node.keys, 0, node.length, key)
    if (i < 0) rank + node.totalUntil(-i - 1)
    else rank + node.totalUntil(i) + up * node.counted(i)
  }

  private final class Node(val leaf: Boolean) {
    nodes += 1

    val keys = new Array[Long](Arity)
    val counts = new Array[Long](Arity)
    val children: Array[Node] = if (leaf) null else new Array[Node](Arity)
    var length = 0

    def total: Long = totalUntil(length)

    /** The sum of the counts of the entries before `end`. */
    def totalUntil(end: Int): Long = {
      var sum = 0L
      var i = 0
      while (i < end) {
        sum += counted(i)
        i += 1
      }
      sum
    }

    /** How many numbers an entry counts. */
    def counted(i: Int): Long = if (ofKeys && leaf) 1L else counts(i)

    def put(i: Int, key: Long, count: Long, child: Node): Unit = {
      System.arraycopy(keys, i, keys, i + 1, length - i)
      System.arraycopy(counts, i, counts, i + 1, length - i)
      keys(i) = key
      counts(i) = count
      if (!leaf) {
        System.arraycopy(children, i, children, i + 1, length - i)
        children(i) = child
      }
      length += 1
    }

    private def drop(i: Int): Unit = {
      if (!leaf) nodes -= 1
      length -= 1
      System.arraycopy(keys, i + 1, keys, i, length - i)
      System.arraycopy(counts, i + 1, counts, i, length - i)
      if (!leaf) {
        System.arraycopy(children, i + 1, children, i, length - i)
        children(length) = null
      }
    }

    /**
     * Adds one occurrence of the key. Returns the right half of this node if it was split, else
     * null.
     */
    def add(key: Long): Node = {
      if (leaf) {
        val i = Arrays.binarySearch(keys, 0, length, key)
        change = if (ofKeys && i >= 0) 0L else 1L
        if (i >= 0) counts(i) += 1 else put(-i - 1, key, 1L, null)
      } else {
        val i = below(key)
        val split = children(i).add(key)
        counts(i) += change
        if (split != null) {
          val moved = split.total
          counts(i) -= moved
          put(i + 1, split.keys(0), moved, split)
        }
      }
      if (length == Arity) halve() else null
    }

    def remove(key: Long): Unit =
      if (leaf) {
        val i = Arrays.binarySearch(keys, 0, length, key)
        if (i < 0) throw new NoSuchElementException(s"remove($key): no number is this")
        counts(i) -= 1
        change = if (ofKeys && counts(i) > 0) 0L else 1L
        if (counts(i) == 0) drop(i)
      } else {
        val i = below(key)
        children(i).remove(key)
        counts(i) -= change
        if (counts(i) == 0) drop(i)
      }

    /**
     * The index of the entry for the key: the last entry whose key is at most this key, or the
     * first.
     */
    def below(key: Long): Int = {
      val i = Arrays.binarySearch(keys, 1, length, key)
      if (i >= 0) i else -i - 2
    }

    private def halve(): Node = {
      val right = new Node(leaf)
      val half = length / 2
      right.length = length - half
      System.arraycopy(keys, half, right.keys, 0, right.length)
      System.arraycopy(counts, half, right.counts, 0, right.length)
      if (!leaf) {
        System.arraycopy(children, half, right.children, 0, right.length)
        Arrays.fill(children.asInstanceOf[Array[AnyRef]], half, length, null)
      }
      length = half
      right
    }
  }
}

private[spark] object RankTree {

  /** The maximal number of entries per node. */
  private final val Arity = 64

  /** Estimated bytes of a node: two or three arrays of `Arity`, with their headers. */
  private final val NodeBytes = 24L * Arity + 80
}
