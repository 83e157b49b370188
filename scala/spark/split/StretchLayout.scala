package io.sash.spark.split

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.expressions.RowOrdering

/** All stretches of a window in order. The driver makes it between the two passes. */
private[split] final class StretchLayout(
    partitions: Array[Partition],
    stretches: IndexedSeq[StretchSummary],
    program: SplitProgram
) {

  /** The keys with which stretches begin or end, in order. */
  private[this] val runs: IndexedSeq[SplitKey] = {
    val byKey = RowOrdering.create(program.keys, program.order.input)
    val ends = for (i <- stretches.indices; end <- stretches(i).ends) yield endOf(i, end)
    val keys = ends.foldLeft(List.empty[Vector[RunPart]]) {
      case (run :: others, end) if byKey.compare(run.last.end.last, end.end.first) == 0 =>
        (run :+ end) :: others
      case (all, end) => Vector(end) :: all
    }
    keys.reverse.map(new SplitKey(_, program)).toIndexedSeq
  }

  private[this] val runsOf: Map[Int, IndexedSeq[SplitKey]] =
    runs.flatMap(r => r.stretches.map(_ -> r)).groupMap(_._1)(_._2)

  /** Locates the rows of a stretch's first or last key in the stretch. */
  private def endOf(i: Int, end: StretchEnd): RunPart = {
    val s = stretches(i)
    val from = if (end eq s.ends.head) 0L else s.rows - end.rows
    RunPart(i, end, StretchRows(partitions(i), seen(i), from, from + end.rows))
  }

  private def seen(i: Int): Option[SeenRows] =
    Some(SeenRows(stretches(i).rows, stretches(i).checksum))

  /** Whether tasks can answer each key in parts: see `SplitFrame.isSteady`. */
  def isSteady: Boolean = runs.filter(_.count > 1).forall { run =>
    program.stages.forall(_.frame.isSteady(run))
  }

  /**
   * Whether windows are so wide that tasks would read too many rows of others. Either tasks read
   * each row more than [[StretchLayout.MostReadings]] times for others, on average. Or one task
   * has more than the share [[StretchLayout.MostOfTask]] of all rows, if its own are an equal
   * share.
   */
  def areTooWide(tasks: Seq[StretchPartition]): Boolean = {
    val (rows, working) = (stretches.map(_.rows).sum, tasks.count(_.own.nonEmpty))
    val read = tasks.map(_.stages.collect { case k: KnownSurroundings => k.count }.sum)
    val most = rows * (StretchLayout.MostOfTask - 1.0 / working)
    read.sum > StretchLayout.MostReadings * rows || working > 1 && read.max > most
  }

  /** All rows of some stretches. */
  def wholes(own: Range): Seq[StretchRows] =
    own.filter(stretches(_).rows > 0L).map(i => StretchRows(partitions(i), seen(i)))

  /**
   * The surroundings of some stretches, for each stage; none if the stretches have no rows. Their
   * first key may continue from older stretches, and their last key in younger ones.
   */
  def surroundings(own: Range): IndexedSeq[KnownSurroundings] = {
    val runs = own.flatMap(runsOf.get).flatten
    if (runs.isEmpty) IndexedSeq.empty
    else
      program.stages.indices.map { s =>
        program.stages(s).frame.surroundings(own, runs.head, runs.last, s)
      }
  }
}

private[split] object StretchLayout {

  /**
   * The greatest number of times that windows of other tasks hold a row, on average. A task reads
   * whole stretches to find these rows.
   */
  val MostReadings = 4L

  /** The greatest share of all rows that one task may read, its own and others. */
  val MostOfTask = 0.75
}
