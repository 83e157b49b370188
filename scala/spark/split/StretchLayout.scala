package io.sash.spark.split

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.InternalRow

import io.sash.spark.windows.Total

/** All stretches of a window in their order. Lies on the driver, between the two passes. */
private[split] final class StretchLayout(
    partitions: Array[Partition],
    stretches: IndexedSeq[StretchSummary]
) {

  /** The number of rows before each stretch, and at last the number of all rows. */
  private[this] val starts = stretches.scanLeft(0L)(_ + _.rows).toArray

  def count: Int = stretches.length

  def apply(i: Int): StretchSummary = stretches(i)

  def start(i: Int): Long = starts(i)

  def isEmpty(i: Int): Boolean = stretches(i).rows == 0L

  /** The first and the last row of each stretch. */
  def ends: Seq[InternalRow] = stretches.filter(_.rows > 0L).flatMap(s => Seq(s.first, s.last))

  /** The number of rows in stretches. */
  def rowsIn(stretches: Range): Long = starts(stretches.end) - starts(stretches.start)

  /** The first row of stretches that have rows. */
  def firstRow(of: Range): InternalRow = stretches(of.find(!isEmpty(_)).get).first

  def lastRow(of: Range): InternalRow = stretches(of.reverse.find(!isEmpty(_)).get).last

  /** All rows of the stretches from `from` to before `until`. */
  def wholes(from: Int, until: Int): Seq[StretchRows] =
    (from until until).filterNot(isEmpty).map(part(_, 0L, Long.MaxValue))

  /** The rows from number `from` to before `until`, both counted over all stretches. */
  def rows(from: Long, until: Long): Seq[StretchRows] =
    if (from >= until) Nil
    else
      stretches.indices
        .filter(i => starts(i) < until && starts(i + 1) > from)
        .map(i => part(i, from - starts(i), until - starts(i)))

  private def part(i: Int, from: Long, until: Long): StretchRows = {
    val s = stretches(i)
    val seen = Some(SeenRows(s.rows, s.checksum))
    StretchRows(
      partitions(i),
      seen,
      math.max(0L, from),
      if (until < s.rows) until else Long.MaxValue
    )
  }

  /** The first stretch that begins at or behind a row. */
  def firstFrom(row: Long): Int = starts.indexWhere(_ >= row)

  /** The last stretch that begins at or before a row. */
  def firstBehind(row: Long): Int = starts.lastIndexWhere(_ <= row)

  /** The total of the stretches from `from` to before `until`, for a stage; none without rows. */
  def total(stage: Int, running: RunningTotal, from: Int, until: Int): Option[Total] =
    Option.when(from < until && starts(until) > starts(from)) {
      val last = stretches.lastIndexWhere(_.rows > 0L, until - 1)
      val cells = running.of(from, until)(i => stretches(i).totals(stage))
      Total(cells, stretches(last).last, starts(until) - starts(from))
    }
}

/** The total of a run of stretches. It goes on from the last run if the next run is longer. */
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
