package io.sash.papers.fiba

import java.util.Arrays

/**
 * Bulk insertion at or before the youngest entry, section 5.
 *
 * The lowest node of a spine that spans all entries is found from the nearer finger. From there
 * down, each node is entered once and divides the new entries among its children. Children that
 * were split give treelets back. The node interleaves them with its own entries, and splits in
 * turn. If the tree already has an entry of that time, the new value is combined into it. The
 * pass down is the one of [[Aggregates]].
 *
 * The paper finds all sites first, and then goes up level by level with the treelets. Here the
 * same nodes are visited in another order, and no node need know its parent.
 *
 * Cost (theorem 3): amortised O(log d + m(1 + log(d/m))) for m entries, where the earliest is d
 * entries from an end of the window.
 */
private[fiba] final class BulkInsert(tree: FingerTree) {
  private[this] val store = tree.store
  private[this] val pieces = new Pieces(tree)

  private[this] val treelets = new Treelets
  private[this] var times: Array[Long] = _
  private[this] var firstSlot = 0

  /**
   * Inserts the entries times[0, count), which ascend. Their values are in slots from `firstSlot`
   * on.
   */
  def insert(times: Array[Long], count: Int, firstSlot: Int): Unit =
    if (count > 0) {
      this.times = times
      this.firstSlot = firstSlot
      treelets.length = 0
      val top = tree.start(times(0), times(count - 1))
      insertBelow(tree.path(top), top, 0, count)
      passUp(top)
      tree.passDown()
    }

  /**
   * Inserts the entries [from, until) into a node and below it. The caller updates its parent.
   */
  private def insertBelow(node: Int, level: Int, from: Int, until: Int): Unit = {
    val base = treelets.length
    if (level == 0 && node == tree.left(0)) tree.settle()
    var k = from
    while (k < until) {
      val i = store.older(node, times(k))
      if (store.isAt(node, i, times(k))) {
        val entry = store.slot(node, i)
        tree.combine(entry, entry, firstSlot + k)
        k += 1
      } else if (level == 0) {
        treelets.add(times(k), firstSlot + k, 0)
        tree.size += 1
        k += 1
      } else {
        val end = if (i < store.arity(node) - 1) before(store.time(node, i), k, until) else until
        insertBelow(store.child(node, i), level - 1, k, end)
        tree.refresh(node, level - 1, i)
        k = end
      }
    }
    if (treelets.length > base) pieces.interleave(node, level, treelets, base)
  }

  /** The end of the entries from `from` on that are older than `time`. The first entry is. */
  private def before(time: Long, from: Int, until: Int): Int = {
    var step = 1
    while (from + step < until && times(from + step) < time) step *= 2
    val i = Arrays.binarySearch(times, from + step / 2, math.min(from + step, until), time)
    if (i >= 0) i else -(i + 1)
  }

  /** Goes up a spine as long as its nodes are split. */
  private def passUp(top: Int): Unit = {
    var level = top
    while (treelets.length > 0) {
      level += 1
      tree.riseOrGrow(level)
      val parent = tree.path(level)
      tree.refresh(parent, level - 1, tree.at(level))
      pieces.interleave(parent, level, treelets, 0)
    }
    tree.noted(tree.path(level), level)
  }
}
