package io.sash.spark.hops

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.LongQueue
import io.sash.spark.base.Metrics
import io.sash.spark.memory.{Spillable, TaskWindowMemory}
import io.sash.spark.windows.{ElementStore, StoreProgram}

/**
 * The windows of one partition, whose rows are sorted by keys and pane. Between two rows, another
 * thread of the task may move the window to disk.
 *
 * @param programs the stores of partials and of running answers
 * @param kept the aggregates whose answers are kept outside the slots
 * @param keyOf gives the key of a row
 * @param types the types of the answers, then of a window's start and end
 * @param isWanted the condition that windows have to meet, over the key and a row of `types`
 * @param output makes the output row from the same
 */
private[hops] final class HopIterator(
    rows: Iterator[InternalRow],
    programs: Seq[StoreProgram],
    kept: Seq[String],
    keyOf: UnsafeProjection,
    paneOrdinal: Int,
    hops: HopPanes,
    types: Seq[DataType],
    isWanted: Option[BasePredicate],
    output: UnsafeProjection,
    metrics: Metrics
) extends Iterator[InternalRow]
    with Spillable {
  private[this] val context = TaskContext.get()
  private[this] val memory = new TaskWindowMemory(SparkInternals.taskMemoryManager(context), kept)
  private[this] val turns = memory.turns

  private[this] val counts = HopMetrics.counts()

  context.addTaskCompletionListener[Unit] { _ =>
    counts(HopMetrics.PeakMemory) = memory.peakBytes
    counts(HopMetrics.SpillSize) = memory.spilledBytes
    metrics.report(counts)
    memory.close()
  }

  private[this] var stores: Array[ElementStore] =
    turns.during(programs.map(_.create(memory)).toArray)
  private[this] var windows: Array[InOrderWindow] = stores.map(_.windows.head)
  memory.windows = this

  private[this] val answer = new SpecificInternalRow(types)
  private[this] val joined = new JoinedRow
  private[this] val held = new LongQueue // the panes in the window
  private[this] val startOrdinal = types.length - 2

  private[this] var ahead: InternalRow = _ // the next row; null after the last
  private[this] var key: UnsafeRow = _
  private[this] var isOfKey = false // whether the row ahead has the same key
  private[this] var number = 0L // the number of the key's next window
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
    counts(HopMetrics.OutputRows) += 1
    output(joined(key, answer))
  }

  /**
   * Moves to the next window that contains a pane and is wanted, and lowers it. False if there is
   * none.
   */
  private def find(): Boolean = windows != null && {
    moveToPane()
    while ((held.size > 0 || isOfKey) && !isWantedNow) {
      number += 1
      while (isOfKey && paneAhead < hops.firstPaneOf(number)) pull()
      moveToPane()
    }
    val end = hops.endPaneOf(number)
    while (isOfKey && paneAhead < end) takeIn()
    val isOne = held.size > 0
    if (isOne) lower() else memory.close()
    isOne
  }

  /**
   * Drops the panes before the current window. If no pane is left, moves to the first window of
   * the next row, which may have the next key.
   */
  private def moveToPane(): Unit = {
    dropBefore(hops.firstPaneOf(number))
    if (held.size == 0 && ahead != null) {
      val first = hops.firstWindowOf(paneAhead)
      number = if (isOfKey) math.max(number, first) else first
      if (!isOfKey) key = keyOf(ahead).copy()
      isOfKey = true
    }
  }

  private def isWantedNow: Boolean = hops.exists(number) && isWanted.forall { condition =>
    setBounds()
    condition.eval(joined(key, answer))
  }

  private def setBounds(): Unit = {
    answer.setLong(startOrdinal, hops.startOf(number))
    answer.setLong(startOrdinal + 1, hops.endOf(number))
  }

  private def dropBefore(pane: Long): Unit = turns.during {
    while (held.size > 0 && held.head < pane) {
      held.remove()
      windows.foreach(_.evict())
    }
  }

  private def takeIn(): Unit = {
    turns.during {
      stores.foreach(_.lift(ahead))
      windows.foreach(_.insert())
    }
    held.add(paneAhead)
    counts(HopMetrics.Panes) += 1
    pull()
  }

  private def lower(): Unit = turns.during {
    var i = 0
    while (i < stores.length) {
      stores(i).columns.lower(0, windows(i).query(), answer)
      i += 1
    }
    setBounds()
  }

  private def pull(): Unit = {
    ahead = if (rows.hasNext) rows.next() else null
    isOfKey = ahead != null && key != null && keyOf(ahead) == key
  }

  private def paneAhead: Long = ahead.getLong(paneOrdinal)

  override def spill(): Long = {
    val before = memory.getUsed
    stores.foreach(_.page())
    before - memory.getUsed
  }

  override def close(): Unit = {
    windows = null
    stores = null
  }
}
