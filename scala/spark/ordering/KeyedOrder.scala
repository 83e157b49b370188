package io.sash.spark.ordering

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Orders the rows of one task: by hashing into keys, and within a key by nothing at all if its
 * rows came in order. Rows that came late are sorted ([[OvertakenRows]]), and merged with the others
 * as they go out ([[OutgoingRows]]).
 *
 * Memory that runs out while rows arrive hands all rows to Spark's own sorter, and so do first
 * rows that show it little to do ([[KeyRuns]]).
 */
private[spark] final class KeyedOrder(program: OrderProgram, metrics: OrderMetrics) {
  private[this] val counts = new OrderCounts
  private[this] val manager = SparkInternals.taskMemoryManager(TaskContext.get())
  private[this] val pages = new RowPages(manager)
  private[this] val rows =
    new KeyedRows(pages, new Records(manager, program.within), program)

  KeyedOrder.atEnd(pages, counts, metrics)

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

  /** Those that are here, `row`, and those to come. */
  private def sortedBySpark(
      row: UnsafeRow,
      input: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    counts.bySpark = 1
    val arrived = outgoing(sorting = false) // else the sorter may lack their memory
    val all = arrived ++ Iterator.single(row) ++ input.asInstanceOf[Iterator[UnsafeRow]]
    counts.sorted(new StableSorter(program.whole), all)
  }
}

private object KeyedOrder {

  /** Holds neither rows nor what ordered them, which are gone long before a task's end. */
  private def atEnd(pages: RowPages, counts: OrderCounts, metrics: OrderMetrics): Unit =
    TaskContext.get().addTaskCompletionListener[Unit] { _ =>
      pages.close()
      metrics.report(counts, pages.peakBytes)
    }
}
