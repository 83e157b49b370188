package io.sash.spark.split

import scala.util.Right

import org.apache.spark.{Dependency, NarrowDependency, Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.spark.windows.{ImmediateWindows, Total, WaitingWindowTask}

/**
 * The answers of a window whose rows lie in stretches. The first pass is a job of its own, which
 * runs when Spark asks for the partitions. The second pass computes the answers. There a task
 * reads its own stretches, and rows of the stretches around them, all from the same shuffle.
 *
 * @param rows one partition per stretch, whose rows come in any order
 * @param tasks the stretches of each task of the second pass, unless windows are too wide
 * @param columns the columns of `rows`
 * @param output the output columns, over `columns` and the results of all stages
 * @param condition a filter over `columns`; it drops rows after they have moved the windows
 */
private[split] final class StretchesRDD(
    private var rows: RDD[InternalRow],
    tasks: StretchTasks,
    program: SplitProgram,
    columns: Seq[Attribute],
    output: Seq[Expression],
    condition: Expression,
    metrics: SplitMetrics
) extends RDD[InternalRow](rows.context, Nil) {

  override protected def getPartitions: Array[Partition] =
    if (program.needsFirstPass) afterFirstPass else withoutFirstPass

  private def withoutFirstPass: Array[Partition] = {
    val all = rows.partitions.toIndexedSeq
    tasks.groups.zipWithIndex.map { case (own, task) =>
      val stages = program.stages.map { stage =>
        val (before, after) = stage.nearest.get
        NearestSurroundings(all.take(own.start).reverse, before, all.drop(own.end), after)
      }
      StretchPartition(task, own.map(i => StretchRows(all(i), None)), stages): Partition
    }.toArray
  }

  private def afterFirstPass: Array[Partition] = {
    val summaries = FirstPass.over(rows, tasks, program, metrics)
    val stretches = new StretchLayout(rows.partitions, summaries, program)
    def of(groups: Seq[Range]) = groups.zipWithIndex.map { case (own, task) =>
      StretchPartition(task, stretches.wholes(own), stretches.surroundings(own))
    }
    def divided = tasks.everFewer.map(t => of(t.groups)).find(!stretches.areTooWide(_)).get
    val parts = if (stretches.isSteady) divided else of(tasks.inFirst(1).groups)
    parts.toArray[Partition]
  }

  override protected def getDependencies: Seq[Dependency[_]] = {
    val parents = partitions.map(_.asInstanceOf[StretchPartition].parents.map(_.index))
    Seq(new NarrowDependency(rows) {
      override def getParents(partition: Int): Seq[Int] = parents(partition)
    })
  }

  override def clearDependencies(): Unit = {
    super.clearDependencies()
    rows = null
  }

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    val part = split.asInstanceOf[StretchPartition]
    val reader = new StretchReader(program, metrics, rows.iterator(_, context))
    val own = reader.own(part.own)
    if (own.hasNext) answered(part, own, reader) else Iterator.empty
  }

  private def answered(
      part: StretchPartition,
      own: Iterator[InternalRow],
      reader: StretchReader
  ): Iterator[InternalRow] = {
    val counts = NeighbourMetrics.counts()
    counts(NeighbourMetrics.Tasks) = 1
    metrics.neighbours.report(counts)
    val keepsAll = Predicate.create(Literal.TrueLiteral, columns)
    val keeps = Predicate.create(condition, columns)
    keeps.initialize(part.index)
    // the columns of the rows before each stage, and after the last one
    val inputs = program.stages.scanLeft(columns)(_ ++ _.results)
    program.stages.indices.foldLeft(own) { (in, s) =>
      val isLast = s == program.stages.length - 1
      val (all, filter) = (inputs(s + 1), if (isLast) keeps else keepsAll)
      val counted = if (isLast) metrics.windows else metrics.earlier
      val project = UnsafeProjection.create(if (isLast) output else all, all)
      val joined = new JoinedRow
      def answer(row: InternalRow, result: InternalRow): InternalRow =
        project(joined(row, result))
      val stage = program.stages(s)
      part.stages(s) match {
        case KnownSurroundings(older, _) if stage.frame == AllRows =>
          val total = older.collectFirst { case Right(t) => t }
          val result = constant(stage, total)
          in.filter(filter.eval).map(answer(_, result))
        case around =>
          val neighbours = around.neighbours(reader)
          if (stage.windows.isImmediate)
            new ImmediateWindows(stage.windows, counted, in, filter, answer, neighbours)
          else
            new WaitingWindowTask(
              stage.windows,
              counted,
              in,
              inputs(s).length,
              filter,
              neighbours
            ).map(project)
      }
    }
  }

  /** The answers of a stage whose windows hold all rows: one for all of them. */
  private def constant(stage: SplitStage, total: Option[Total]): InternalRow = {
    val result = new SpecificInternalRow(stage.calls.map(_.expression.dataType: DataType))
    val totals = new StretchTotals(stage.totals)
    total.foreach(t => totals.add(t.cells))
    totals.lower(result)
    result
  }
}
