package io.sash.spark.ordering

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.base.Metrics

/**
 * Orders the rows of one task. It groups rows by key by hashing. A key whose rows arrived in
 * order is not sorted. Of other keys, only the overtaken rows are sorted ([[OvertakenRows]]), and
 * merged with the key's other rows on output ([[OutgoingRows]]).
 *
 * All rows go to Spark's own sorter if memory runs out while rows arrive, or if the first rows
 * show that Spark's sort has little to do ([[KeyRuns]]).
 */
private[spark] final class OrderTask(program: OrderProgram, metrics: Metrics) {
  private[this] val counts = new OrderCounts
  private[this] val manager = SparkInternals.taskMemoryManager(TaskContext.get())
  private[this] val pages = new RowPages(manager)
  private[this] val rows =
    new KeyedRows(pages, new Records(manager, program.within), program)

  OrderTask.atEnd(pages, counts, metrics)

  def ordered(input: Iterator[InternalRow]): Iterator[InternalRow] = {
    val runs = new KeyRuns(program)
    while (input.hasNext) {
      val row = input.next().asInstanceOf[UnsafeRow]
      if (runs.areLong(row) || !rows.add(row)) return sortedBySpark(row, input)
      if (runs.isOver) rows.place()
    }
    outgoing(sorting = true)
  }

  private def outgoing(sorting: Boolean): Iterator[UnsafeRow] =
    new OutgoingRows(rows, pages, program, sorting, counts)

  /** Sorts by Spark the rows that have arrived, `row`, and all rows to come. */
  private def sortedBySpark(
      row: UnsafeRow,
      input: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    counts(OrderMetrics.TasksSortedBySpark) = 1
    val arrived = outgoing(sorting = false) // can spill from now on, if the sorter needs memory
    val all = arrived ++ Iterator.single(row) ++ input.asInstanceOf[Iterator[UnsafeRow]]
    counts.sorted(new StableSorter(program.whole), all)
  }
}

private object OrderTask {

  /**
   * Registers the end of the task. The listener lives as long as the task, so it holds neither
   * rows nor the objects that order them.
   */
  private def atEnd(pages: RowPages, counts: OrderCounts, metrics: Metrics): Unit =
    TaskContext.get().addTaskCompletionListener[Unit] { _ =>
      pages.close()
      counts(OrderMetrics.PeakMemory) = pages.peakBytes
      metrics.report(counts)
    }
}
