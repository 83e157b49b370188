package io.sash.spark.hops.stream

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.stored.StoredPanes
import io.sash.spark.slots.SlotColumns

/**
 * Combines the rows of a pane, in the order in which they come, into the open slot of the panes.
 *
 * If partials are as large as their rows, it would cost O(n²) to combine each row with all rows
 * before it. So partials are then combined in pairs, like the carries of a binary counter. Level
 * i of the counter is empty, or has the partial of 2^i rows. That costs O(n log n).
 *
 * @param grows whether partials may be as large as their rows
 */
private[stream] final class RowsOfPane(panes: StoredPanes, grows: Boolean) {
  private[this] val lifted = panes.slot() // a row's partial
  private[this] var levels = Array.empty[Int]
  private[this] var rows = 0L

  def begin(row: InternalRow): Unit =
    if (grows) {
      rows = 0L
      add(row)
    } else column.lift(panes.open(), row)

  def add(row: InternalRow): Unit = {
    column.lift(lifted, row)
    if (grows) carry() else column.combine(panes.open(), panes.open(), lifted)
  }

  private def carry(): Unit = {
    var level = 0
    while ((rows >> level & 1) == 1) {
      column.combine(lifted, levels(level), lifted)
      level += 1
    }
    if (level == levels.length) levels :+= panes.slot()
    column.copy(levels(level), lifted)
    rows += 1
  }

  /** Combines all rows into the open slot. Earlier rows are left operands. */
  def end(): Unit = if (grows) {
    column.identity(panes.open())
    levels.indices.foreach { level =>
      if ((rows >> level & 1) == 1) column.combine(panes.open(), levels(level), panes.open())
    }
  }

  private def column: SlotColumns = panes.column.asInstanceOf[SlotColumns]
}
