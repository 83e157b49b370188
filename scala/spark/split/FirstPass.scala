package io.sash.spark.split

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{RowOrdering, UnsafeRow}

/** The first pass over a stretch: counts its rows and makes its totals. */
private[split] object FirstPass {

  /** Runs the pass over all stretches as a job, with several stretches in a task. */
  def over(
      rows: RDD[InternalRow],
      tasks: StretchTasks,
      program: SplitProgram,
      metrics: SplitMetrics
  ): IndexedSeq[StretchSummary] = {
    val stretches = new GroupedStretchesRDD(rows, tasks)
    rows.context
      .runJob(
        stretches,
        (_: TaskContext, group: Iterator[Iterator[InternalRow]]) =>
          group.map { in =>
            of(program, new StretchReader(program, metrics, (_: Partition) => in), in)
          }.toArray
      )
      .toIndexedSeq
      .flatten
  }

  private def of(
      program: SplitProgram,
      reader: StretchReader,
      rows: Iterator[InternalRow]
  ): StretchSummary = {
    val totals = program.stages.map(s => new StretchTotals(s.totals)).toArray
    val checksum = new Checksum
    val ends = new Ends(program)
    val all = if (program.inOrder) reader.ordered(rows) else rows
    while (all.hasNext) {
      val row = all.next().asInstanceOf[UnsafeRow]
      checksum.add(row)
      ends.add(row)
      var i = 0
      while (i < totals.length) {
        totals(i).add(row)
        i += 1
      }
    }
    StretchSummary(
      checksum.rows,
      checksum.value,
      ends.first,
      ends.last,
      totals.toIndexedSeq.map(_.cells)
    )
  }

  /** The first and the last row that has come, in the window's order; null without rows. */
  private final class Ends(program: SplitProgram) {
    private[this] val ordering = RowOrdering.create(program.order.order, program.order.input)
    private[this] val compares = program.comparesRows
    var first: UnsafeRow = _
    var last: UnsafeRow = _

    def add(row: UnsafeRow): Unit =
      if (first == null) {
        first = row.copy()
        last = row.copy()
      } else if (compares) {
        if (ordering.compare(row, last) >= 0) last.copyFrom(row)
        else if (ordering.compare(row, first) < 0) first.copyFrom(row)
      }
  }
}
