package io.sash.spark.split

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.base.RowHash

/**
 * The findings of the first pass on a stretch: one range partition of a window's rows. One task
 * answers the rows of a stretch.
 *
 * @param rows the number of rows
 * @param checksum see [[Checksum]]
 * @param ends the stretch's first and last key. Empty without rows; one element if all rows have
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
 * @param rows the number of these rows
 * @param first the first row in the window's order; any one of several that tie
 * @param last the last row in the window's order, likewise
 * @param values the first and the last row whose order is not NULL; empty without such rows
 * @param totals for each stage and each of its stores, the partial of all rows. A stage without
 *   totals has none
 */
private[spark] final case class StretchEnd(
    rows: Long,
    first: UnsafeRow,
    last: UnsafeRow,
    values: Seq[UnsafeRow],
    totals: IndexedSeq[IndexedSeq[Array[Byte]]]
)

/**
 * A checksum of rows that does not depend on their order. Two readings of the same rows have
 * equal checksums. Two readings of different rows have equal checksums with a chance of 2^-64.
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

/** The number and the checksum of a stretch's rows, which each later reading has to match. */
private[split] final case class SeenRows(rows: Long, checksum: Long)

/**
 * The rows of a stretch that a task reads: from number `from` until `until`, in the window's
 * order.
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

  /** The rows from number `first` until `end`, as counted among these rows. */
  def slice(first: Long, end: Long): StretchRows =
    copy(from = from + math.max(0L, first), until = math.min(until, from + end))
}

/** The own rows of a task, and for each stage their surroundings. */
private[split] final case class StretchPartition(
    index: Int,
    own: Seq[StretchRows],
    stages: IndexedSeq[Surroundings]
) extends Partition {

  /** The partitions of the stretches that the task reads, its own first. */
  def parents: Seq[Partition] =
    (own.map(_.partition) ++ stages.flatMap(_.parents)).distinct
}
