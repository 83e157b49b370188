package io.sash.spark.split

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The first pass over stretches. It counts rows, and makes the totals of each stretch's ends. */
private[split] object FirstPass {

  /** Runs the pass as one job. A task has several stretches. */
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
    val checksum = new Checksum
    val ends = new StretchEnds(program)
    val all = if (program.inOrder) reader.ordered(rows) else rows
    while (all.hasNext) {
      val row = all.next().asInstanceOf[UnsafeRow]
      checksum.add(row)
      ends.add(row)
    }
    StretchSummary(checksum.rows, checksum.value, ends.result)
  }
}
