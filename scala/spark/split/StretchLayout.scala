package io.sash.spark.split

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.expressions.RowOrdering

/** All stretches of a window in their order. Lies on the driver, between the two passes. */
private[split] final class StretchLayout(
    partitions: Array[Partition],
    stretches: IndexedSeq[StretchSummary],
    program: SplitProgram
) {

  /** The keys that a stretch begins or ends with, in their order. */
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

  /** A stretch begins with the rows of its first key, and ends with the rows of its last key. */
  private def endOf(i: Int, end: StretchEnd): RunPart = {
    val s = stretches(i)
    val from = if (end eq s.ends.head) 0L else s.rows - end.rows
    RunPart(i, end, StretchRows(partitions(i), seen(i), from, from + end.rows))
  }

  private def seen(i: Int): Option[SeenRows] =
    Some(SeenRows(stretches(i).rows, stretches(i).checksum))

  /** Whether tasks can answer each key's rows in parts. */
  def isSteady: Boolean = runs.filter(_.count > 1).forall { run =>
    program.stages.forall(_.frame.isSteady(run))
  }

  /**
   * Whether windows are so wide that tasks would read the same rows again and again: each row
   * more often than [[StretchLayout.MostReadings]] on average, or so many rows in one task that
   * it has more than [[StretchLayout.MostOfTask]] of all rows, beside an equal share as its own.
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
   * The surroundings of some stretches, for each stage; none if they have no rows. Their first
   * key goes on from older stretches, and their last key in younger ones.
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

  /** How often tasks read a row for others, on average, before fewer tasks are better. */
  val MostReadings = 4L

  /** The part of all rows that a task may have, those among them that it reads for others. */
  val MostOfTask = 0.75
}
