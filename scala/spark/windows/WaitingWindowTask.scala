package io.sash.spark.windows

import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, JoinedRow, UnsafeRow}

import io.sash.spark.base.Metrics
import io.sash.spark.memory.RowQueue

/**
 * Runs frames that look ahead. Each row waits in a queue until its frames are complete, and goes
 * out with its results appended.
 *
 * @param fields the number of columns of the input
 * @param filter whether a row gets results and is part of the output
 */
private[spark] final class WaitingWindowTask(
    program: WindowProgram,
    metrics: Metrics,
    input: Iterator[InternalRow],
    fields: Int,
    filter: BasePredicate,
    neighbours: Neighbours = Neighbours.None
) extends WindowTask(program, metrics, neighbours)
    with Iterator[InternalRow] {
  private[this] val waiting = new RowQueue(fields, memory)
  private[this] val joined = new JoinedRow

  /** The number, within the partition, of the oldest row in the queue. */
  private[this] var current = 0L

  /** The number of rows of other tasks that have arrived after the rows of this task. */
  private[this] var younger = 0L

  /** Whether all rows of the partition have arrived. */
  private[this] var ended = true

  /** The first row of the next partition, if it has been read. */
  private[this] var following: InternalRow = _

  /** Whether `joined` has a row that has not gone out yet. */
  private[this] var isJoined = false

  override def hasNext: Boolean = {
    begin()
    while (!isJoined && (isWaiting || following != null || input.hasNext)) step()
    if (!isJoined) finish()
    isJoined
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    isJoined = false
    joined
  }

  /** Whether an own row of this task waits in the queue. */
  private def isWaiting: Boolean = current < arrived - younger

  override protected def begun(): Unit = {
    current = arrived
    ended = false
  }

  /** Lets the current row go out if all its frames are complete; else takes one more row. */
  private def step(): Unit = {
    SparkInternals.throwIfKilled(context)
    if (!leaveIfComplete()) advance()
  }

  private def leaveIfComplete(): Boolean = {
    turns.take()
    try isWaiting && frames.moveTo(current, arrived, ended) && { leave(); true }
    finally turns.end()
  }

  private def leave(): Unit = {
    val row = waiting.remove()
    isJoined = filter.eval(row)
    if (isJoined) {
      lower(row, current)
      joined(row, result)
    }
    current += 1
  }

  /**
   * Takes one row. The row is read before the turn begins, since operators below may acquire
   * memory to produce it.
   */
  private def advance(): Unit = {
    val row = if (following != null) following else if (input.hasNext) input.next() else null
    if (row != null || !isFollowed) {
      turns.take()
      try take(row)
      finally turns.end()
    }
  }

  /** Takes a younger row of another task, if there is one of the same key. */
  private def isFollowed: Boolean = neighbours.younger.nextOption().exists { next =>
    val isSame = belongs(next.fold(identity, _.last))
    if (isSame) {
      next.fold(enter, enter)
      younger += 1
    }
    isSame
  }

  /**
   * Takes a row into the partition. A row of another partition, or the end, ends the partition.
   */
  private def take(row: InternalRow): Unit = {
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
    frames.arrive(row)
  }

  override def spill(): Long = {
    val before = memory.getUsed
    super.spill()
    waiting.spill()
    before - memory.getUsed
  }

  override def close(): Unit = {
    super.close()
    waiting.close()
  }
}
