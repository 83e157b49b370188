package io.sash.spark.split

import org.apache.spark.{Partition, SparkException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.ordering.OrderTask

/**
 * Reads the rows of stretches in one task.
 *
 * @param unordered reads a partition, whose rows come in any order
 */
private[split] final class StretchReader(
    program: SplitProgram,
    metrics: SplitMetrics,
    unordered: Partition => Iterator[InternalRow]
) {

  /**
   * The task's own rows in the window's order. A stretch is read when its first row is needed.
   */
  def own(parts: Seq[StretchRows]): Iterator[InternalRow] =
    ordered(parts, NeighbourMetrics.OwnRows)

  /** Rows of neighbouring stretches, likewise. */
  def neighbours(parts: Seq[StretchRows]): Iterator[InternalRow] =
    ordered(parts, NeighbourMetrics.NeighbourRows)

  private def ordered(parts: Seq[StretchRows], metric: Int): Iterator[InternalRow] =
    parts.iterator.flatMap(ordered(_, metric))

  private def ordered(part: StretchRows, metric: Int): Iterator[InternalRow] = {
    val all = new CountedRows(unordered(part.partition), count(metric, _))
    val rows = ordered(part.seen.fold[Iterator[InternalRow]](all)(new CheckedRows(all, _)))
    if (part.isWhole) rows
    else rows.slice(part.from.toInt, math.min(part.until, Int.MaxValue).toInt)
  }

  private def count(metric: Int, rows: Long): Unit = {
    val counts = NeighbourMetrics.counts()
    counts(metric) = rows
    metrics.neighbours.report(counts)
  }

  /** All rows in the window's order. */
  def ordered(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (rows.hasNext) new OrderTask(program.ordering, metrics.order).ordered(rows) else rows
}

/** Passes rows on, and reports their number after the last one. */
private[split] final class CountedRows(rows: Iterator[InternalRow], report: Long => Unit)
    extends Iterator[InternalRow] {
  private[this] var (count, isReported) = (0L, false)

  override def hasNext: Boolean = {
    val more = rows.hasNext
    if (!more && !isReported) {
      isReported = true
      report(count)
    }
    more
  }

  override def next(): InternalRow = {
    count += 1
    rows.next()
  }
}

/**
 * Passes rows on. After the last one, fails unless they are the rows that the first pass read.
 */
private[split] final class CheckedRows(rows: Iterator[InternalRow], seen: SeenRows)
    extends Iterator[InternalRow] {
  private[this] val checksum = new Checksum

  override def hasNext: Boolean = rows.hasNext || {
    if (checksum.rows != seen.rows || checksum.value != seen.checksum) {
      throw SplitErrors.otherRows(seen.rows, checksum.rows)
    }
    false
  }

  override def next(): InternalRow = {
    val row = rows.next()
    checksum.add(row.asInstanceOf[UnsafeRow])
    row
  }
}

private[split] object SplitErrors {
  def otherRows(expected: Long, actual: Long): Throwable = SparkException.internalError(
    s"A window that many tasks answer has read $actual rows where an earlier pass has read " +
      s"$expected rows, or other values. Spark has computed the window's input once more, " +
      "after a loss of an executor, and the input is not deterministic. Write the input to a " +
      "table, or set spark.sash.window.split to 'off'."
  )
}
