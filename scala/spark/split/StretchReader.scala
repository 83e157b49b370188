package io.sash.spark.split

import org.apache.spark.{Partition, SparkException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.ordering.OrderTask

/**
 * Reads the rows of stretches in one task.
 *
 * @param unordered the rows of a partition, in any order
 */
private[split] final class StretchReader(
    program: SplitProgram,
    metrics: SplitMetrics,
    unordered: Partition => Iterator[InternalRow]
) {

  /** Rows of neighbouring stretches in the window's order. It reads each when it needs it. */
  def ordered(parts: Seq[StretchRows]): Iterator[InternalRow] = parts.iterator.flatMap { part =>
    val all = unordered(part.partition)
    val rows = ordered(part.seen.fold(all)(new CheckedRows(all, _)))
    if (part.isWhole) rows
    else rows.slice(part.from.toInt, math.min(part.until, Int.MaxValue).toInt)
  }

  /** All rows in the window's order. */
  def ordered(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (rows.hasNext) new OrderTask(program.ordering, metrics.order).ordered(rows) else rows
}

/** Fails behind the last row if they are not the rows that the first pass has read. */
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
