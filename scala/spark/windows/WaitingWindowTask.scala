package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeRow}

import io.sash.spark.memory.RowQueue

/**
 * Frames that look ahead: each row waits in a queue until its frames are complete, and comes
 * out with its results appended.
 *
 * @param fields number of columns of the input
 */
private[spark] final class WaitingWindowTask(
    program: WindowProgram,
    metrics: WindowMetrics,
    input: Iterator[InternalRow],
    fields: Int
) extends WindowTask(program, metrics)
    with Iterator[InternalRow] {
  private[this] val waiting = new RowQueue(fields, memory)
  private[this] val joined = new JoinedRow

  /** Number, within the partition, of the oldest row that waits. */
  private[this] var current = 0L

  /** Whether all rows of the partition have arrived. */
  private[this] var ended = true

  /** The first row of the next partition, if it has been read. */
  private[this] var following: InternalRow = _

  override def hasNext: Boolean = current < arrived || following != null || input.hasNext

  override def next(): InternalRow = {
    while (current == arrived || !complete()) advance()
    var i = 0
    while (i < frames.length) {
      frames(i).lower(result)
      i += 1
    }
    current += 1
    rows += 1
    joined(waiting.remove(), result)
  }

  /** Whether every frame of the current row has all its rows. */
  private def complete(): Boolean = {
    var all = true
    var i = 0
    while (i < frames.length) {
      if (!frames(i).moveTo(current, arrived, ended)) all = false
      i += 1
    }
    all
  }

  /** Takes one row, or ends the partition at a row of another one. */
  private def advance(): Unit = {
    val row = if (following != null) following else if (input.hasNext) input.next() else null
    following = null
    if (row == null) {
      if (ended) throw new NoSuchElementException("no more rows")
      ended = true
    } else if (ended) {
      startPartition(row)
      current = 0L
      ended = false
      arrive(row)
    } else if (belongs(row)) {
      arrive(row)
    } else {
      following = row
      ended = true
    }
  }

  private def arrive(row: InternalRow): Unit = {
    waiting.add(row.asInstanceOf[UnsafeRow])
    arrived += 1
    var i = 0
    while (i < frames.length) {
      frames(i).arrive(row)
      i += 1
    }
  }

  override protected def spill(): Unit = {
    super.spill()
    waiting.spill()
  }
}
