package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Looks at the first rows of a task for the one input on which Spark's sort is at its best: many
 * keys, which ascend from row to row in long runs. Its merge of runs then has less to do than it
 * takes to tell the keys apart.
 */
private[spark] final class KeyRuns(program: OrderProgram) {
  import KeyRuns._

  private[this] val keys = program.keyOrdering()
  private[this] val comparator = program.whole.recordComparator
  private[this] val row = UnsafeRow.createFromByteArray(0, program.within.input.length)
  private[this] var seen = 0
  private[this] var changes = 0 // of the key, from row to row
  private[this] var descents = 0 // in Spark's order

  /** Whether as many rows were looked at as there are to be. */
  def isOver: Boolean = seen == Rows

  /** Takes note of a row; true once, if at all. */
  def areLong(next: UnsafeRow): Boolean = seen < Rows && {
    if (seen > 0) {
      if (keys.compare(row, next) != 0) changes += 1
      if (isDescent(next)) descents += 1
    }
    row.copyFrom(next)
    seen += 1
    isOver && changes >= FewestChanges && descents <= MostDescents
  }

  private def isDescent(next: UnsafeRow): Boolean = comparator.compare(
    row.getBaseObject,
    row.getBaseOffset,
    row.getSizeInBytes,
    next.getBaseObject,
    next.getBaseOffset,
    next.getSizeInBytes
  ) > 0
}

private[spark] object KeyRuns {

  /** Rows that are looked at. */
  val Rows: Int = 8192

  /** With fewer, keys have so many rows that those of a key lie together, or keys are few. */
  private val FewestChanges = Rows / 64

  /** With more, runs are so short that merging them takes longer. */
  private val MostDescents = 8
}
