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

  override def evicts: Boolean = lower != Long.MinValue

  override def lags: Boolean = upper < 0L

  override def longest: Long =
    if (evicts && upper != Long.MaxValue) math.max(1L, upper - lower + 1) else Long.MaxValue

  override def clear(): Unit = {
    super.clear()
    omitted = 0L
  }

  override def omit(rows: Long): Unit = omitted += rows

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val until = if (upper == Long.MaxValue) upper else current + upper + 1
    enterTo(math.min(arrived, until))
    if (entered < until && !ended) {
      false
    } else {
      leaveTo(math.min(entered, current + lower + omitted))
      true
    }
  }
}
