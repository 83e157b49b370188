package io.sash.spark.split

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.spark.split.Surroundings.Element
import io.sash.spark.windows.Total

/** The rows of one key in stretch number `stretch`, whose first or last key it is. */
private[split] final case class RunPart(stretch: Int, end: StretchEnd, rows: StretchRows)

/**
 * A key whose rows lie in one or more neighbouring stretches. Each stretch has one part of it.
 * Parts and rows are numbered from 0. Without PARTITION BY, all rows have one key.
 */
private[split] final class SplitKey(parts: IndexedSeq[RunPart], program: SplitProgram) {

  /** The number of rows before each part, then the number of all rows. */
  private[this] val starts = parts.scanLeft(0L)(_ + _.end.rows).toArray

  private[this] lazy val totals =
    program.stages.map(s => new RunningTotal(new StretchTotals(s.totals)))

  def count: Int = parts.length

  def stretches: Seq[Int] = parts.map(_.stretch)

  def start(i: Int): Long = starts(i)

  def first(i: Int): InternalRow = parts(i).end.first

  def last(i: Int): InternalRow = parts(i).end.last

  /** The first and the last row of each part whose order is not NULL. */
  def valuesAtEnds: Seq[InternalRow] = parts.flatMap(_.end.values)

  /** The parts that lie in the given stretches. */
  def in(stretches: Range): Range = {
    val is = parts.indices.filter(i => stretches.contains(parts(i).stretch))
    is.head until is.last + 1
  }

  /**
   * The rows from number `from` until `until`. If the aggregates have totals, one total replaces
   * the rows of `parts`.
   */
  def elements(stage: Int, from: Long, parts: Range, until: Long): Seq[Element] =
    total(stage, parts.start, parts.end).fold(ofRows(from, until)) { of =>
      ofRows(from, starts(parts.start)) ++ Seq(Right(of)) ++ ofRows(starts(parts.end), until)
    }

  private def ofRows(from: Long, until: Long): Seq[Element] =
    rows(from, until).map(Left(_))

  /** The rows from number `from` until `until`. */
  def rows(from: Long, until: Long): Seq[StretchRows] =
    if (from >= until) Nil
    else
      parts.indices
        .filter(i => starts(i) < until && starts(i + 1) > from)
        .map(i => parts(i).rows.slice(from - starts(i), until - starts(i)))

  /** The first part that begins at or after a row. */
  def firstFrom(row: Long): Int = starts.indexWhere(_ >= row)

  /** The last part that begins at or before a row. */
  def firstBehind(row: Long): Int = starts.lastIndexWhere(_ <= row)

  /**
   * The total of the parts from `from` until `until`, for a stage. None without parts, or if the
   * aggregates have no totals.
   */
  def total(stage: Int, from: Int, until: Int): Option[Total] =
    Option.when(from < until && program.stages(stage).totals.nonEmpty) {
      val cells = totals(stage).of(from, until)(i => parts(i).end.totals(stage))
      Total(cells, last(until - 1), starts(until) - starts(from))
    }
}

/** The total of a range of stretches. If the next range only has a later end, the total grows. */
private[split] final class RunningTotal(totals: StretchTotals) {
  private[this] var (first, end) = (0, 0)

  def of(from: Int, until: Int)(
      cells: Int => IndexedSeq[Array[Byte]]
  ): IndexedSeq[Array[Byte]] = {
    if (from != first || until < end) {
      totals.clear()
      first = from
      end = from
    }
    (end until until).foreach(i => totals.add(cells(i)))
    end = until
    totals.cells
  }
}
