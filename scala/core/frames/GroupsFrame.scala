package io.sash.core.frames

import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.LongQueue

/**
 * GROUPS BETWEEN lower AND upper: whole groups of peers, counted from the current row's group.
 *
 * @param keys the rows' order keys, compared for equality only
 * @param lower negative for PRECEDING; Long.MinValue for UNBOUNDED PRECEDING
 * @param upper positive for FOLLOWING; Long.MaxValue for UNBOUNDED FOLLOWING
 */
final class GroupsFrame(windows: Array[InOrderWindow], keys: RangeKeys, lower: Long, upper: Long)
    extends Frame(windows) {

  /** The group number, from 0, of each of the rows [oldest, numbered). */
  private[this] val groups = new LongQueue
  private[this] var oldest = 0L
  private[this] var numbered = 0L

  override def clear(): Unit = {
    super.clear()
    keys.clear()
    groups.clear()
    oldest = 0L
    numbered = 0L
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (numbered < arrived) number()
    val group = groupOf(current)
    while (entered < arrived && groupOf(entered) - group <= upper) enter()
    if (entered == arrived && !ended) {
      false
    } else {
      while (evicted < entered && groupOf(evicted) - group < lower) leave()
      while (oldest < math.min(evicted, current)) {
        groups.remove()
        oldest += 1
      }
      true
    }
  }

  private def number(): Unit = {
    val group =
      if (numbered == 0) 0L
      else groupOf(numbered - 1) + (if (keys.arePeers(numbered - 1, numbered)) 0 else 1)
    groups.add(group)
    keys.forgetBefore(numbered)
    numbered += 1
  }

  private def groupOf(row: Long): Long = groups((row - oldest).toInt)
}
