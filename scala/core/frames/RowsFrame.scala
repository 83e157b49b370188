package io.sash.core.frames

import io.sash.core.elements.InOrderWindow

/**
 * ROWS BETWEEN lower AND upper, as offsets from the current row.
 *
 * @param lower negative for PRECEDING; Long.MinValue for UNBOUNDED PRECEDING
 * @param upper Long.MaxValue for UNBOUNDED FOLLOWING
 */
final class RowsFrame(windows: Array[InOrderWindow], lower: Long, upper: Long)
    extends Frame(windows) {
  private[this] var omitted = 0L

  override def clear(): Unit = {
    super.clear()
    omitted = 0L
  }

  override def omit(rows: Long): Unit = omitted += rows

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val last = if (upper == Long.MaxValue) upper else current + upper
    while (entered < arrived && entered <= last) enter()
    if (entered <= last && !ended) {
      false
    } else {
      while (evicted < entered && evicted < current + lower + omitted) leave()
      true
    }
  }
}
