package io.sash.spark.split

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.base.RowHash

/**
 * A range partition of a window's rows, as the first pass has seen it. One task answers its rows.
 *
 * @param checksum see [[Checksum]]
 * @param ends the rows of the first and of the last key: none without rows, one if all rows have
 *   one key, as without PARTITION BY
 */
private[spark] final case class StretchSummary(
    rows: Long,
    checksum: Long,
    ends: Seq[StretchEnd]
)

/**
 * The rows of one key in a stretch.
 *
 * @param first a row that no other row of them comes before
 * @param last a row that no other row of them comes after
 * @param values the first and the last row whose order is not NULL; none without such rows
 * @param totals for each stage and each of its stores the partial of all of them, or nothing
 */
private[spark] final case class StretchEnd(
    rows: Long,
    first: UnsafeRow,
    last: UnsafeRow,
    values: Seq[UnsafeRow],
    totals: IndexedSeq[IndexedSeq[Array[Byte]]]
)

/**
 * A checksum of rows that does not depend on their order. Two passes that read a stretch read the
 * same rows if and, but for a chance of 2^-64, only if they get the same checksum.
 */
private[split] final class Checksum {
  private[this] var sum = 0L
  private[this] var count = 0L

  def add(row: UnsafeRow): Unit = {
    sum += RowHash.of(row)
    count += 1
  }

  def value: Long = sum

  def rows: Long = count
}

/** The rows of a stretch, as each later reading has to find them. */
private[split] final case class SeenRows(rows: Long, checksum: Long)

/**
 * Rows of a stretch that a task reads: from number `from` to before number `until`, in the
 * window's order.
 *
 * @param seen the findings of the first pass; none without a first pass
 */
private[split] final case class StretchRows(
    partition: Partition,
    seen: Option[SeenRows],
    from: Long = 0L,
    until: Long = Long.MaxValue
) {
  def isWhole: Boolean = from == 0L && seen.forall(_.rows <= until)

  /** The rows from number `first` to before number `end` of these rows. */
  def slice(first: Long, end: Long): StretchRows =
    copy(from = from + math.max(0L, first), until = math.min(until, from + end))
}

/** The own rows of a task, and their surroundings for each stage. */
private[split] final case class StretchPartition(
    index: Int,
    own: Seq[StretchRows],
    stages: IndexedSeq[Surroundings]
) extends Partition {

  /** The partitions of the stretches that the task reads, its own first. */
  def parents: Seq[Partition] =
    (own.map(_.partition) ++ stages.flatMap(_.parents)).distinct
}
