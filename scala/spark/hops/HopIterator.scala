package io.sash.spark.hops

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.DataType

import io.sash.core.inorder.TwoStacksLite
import io.sash.spark.memory.{Spillable, TaskWindowMemory}
import io.sash.spark.slots.{SlotColumns, SlotProgram}

/**
 * The windows of one partition, whose rows are sorted by keys and pane. Another thread of the task
 * may move the window to disk, between two rows.
 *
 * @param types of the answers, and of a window's start and end behind them
 */
private[hops] final class HopIterator(
    rows: Iterator[InternalRow],
    program: SlotProgram,
    keyOf: UnsafeProjection,
    paneOrdinal: Int,
    hops: HopPanes,
    types: Seq[DataType],
    output: UnsafeProjection,
    rowCount: SQLMetric,
    paneCount: SQLMetric
) extends Iterator[InternalRow]
    with Spillable {
  private[this] val context = TaskContext.get()
  private[this] val memory = new TaskWindowMemory(SparkInternals.taskMemoryManager(context))
  private[this] val turns = memory.turns

  context.addTaskCompletionListener[Unit](_ => memory.close())

  private[this] var window = inTurn {
    new TwoStacksLite(SlotColumns(program).accountedBy(memory, program))
  }
  memory.windows = this

  private[this] val answer = new SpecificInternalRow(types)
  private[this] val joined = new JoinedRow
  private[this] val held = new java.util.ArrayDeque[java.lang.Long] // panes of the window

  private[this] var ahead: InternalRow = _ // the row that comes next
  private[this] var key: UnsafeRow = _
  private[this] var number = 0L // of the next window of the key
  private[this] var found = false

  pull()

  override def hasNext: Boolean = {
    if (!found) found = find()
    found
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more windows")
    SparkInternals.throwIfKilled(context)
    found = false
    number += 1
    rowCount += 1
    output(joined(key, answer))
  }

  /** Moves on to the next window that has a pane, and lowers it. */
  private def find(): Boolean = if (window == null) {
    false
  } else {
    dropBefore(hops.firstPaneOf(number))
    if (held.isEmpty && (ahead == null || !isOfKey(ahead))) {
      if (ahead != null) key = keyOf(ahead).copy()
    }
    if (held.isEmpty && ahead != null) number = firstOf(ahead)
    while (ahead != null && isOfKey(ahead) && paneOf(ahead) < hops.endPaneOf(number)) takeIn()
    if (held.isEmpty) memory.close() else lower()
    !held.isEmpty
  }

  /** The first window of a row; of a key whose windows before it have been answered. */
  private def firstOf(row: InternalRow): Long = hops.firstWindowOf(paneOf(row))

  private def dropBefore(pane: Long): Unit = inTurn {
    while (!held.isEmpty && held.peekFirst() < pane) {
      held.removeFirst()
      window.evict()
    }
  }

  private def takeIn(): Unit = {
    inTurn {
      val slot = window.open()
      column.lift(slot, ahead)
      window.insert()
      if (column.varies && !column.fits()) window.relocate(_.asInstanceOf[SlotColumns].page())
    }
    held.addLast(paneOf(ahead))
    paneCount += 1
    pull()
  }

  private def lower(): Unit = inTurn {
    column.lower(0, window.query(), answer)
    answer.setLong(types.length - 2, hops.startOf(number))
    answer.setLong(types.length - 1, hops.endOf(number))
  }

  private def pull(): Unit = ahead = if (rows.hasNext) rows.next() else null

  private def paneOf(row: InternalRow): Long = row.getLong(paneOrdinal)

  private def isOfKey(row: InternalRow): Boolean = key != null && keyOf(row) == key

  private def column: SlotColumns = window.column.asInstanceOf[SlotColumns]

  private def inTurn[A](body: => A): A = {
    turns.take()
    try body
    finally turns.end()
  }

  override def spill(): Long = {
    val before = memory.getUsed
    window.relocate(_.asInstanceOf[SlotColumns].page())
    before - memory.getUsed
  }

  override def close(): Unit = window = null
}
