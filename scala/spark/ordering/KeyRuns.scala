package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Looks in a task's first rows for the one input that Spark sorts faster than Sash: many keys,
 * which ascend from row to row in long runs. To merge such runs costs less than to tell the keys
 * apart.
 */
private[spark] final class KeyRuns(program: OrderProgram) {
  import KeyRuns._

  private[this] val keys = program.keyOrdering()
  private[this] val comparator = program.whole.recordComparator
  private[this] val row = UnsafeRow.createFromByteArray(0, program.within.input.length)
  private[this] var seen = 0
  private[this] var changes = 0 // rows whose key differs from the row before
  private[this] var descents = 0 // rows that Spark's order puts before the previous row

  /** Whether all rows of the sample have been seen. */
  def isOver: Boolean = seen == Rows

  /**
   * Notes a row. Returns true at most once: at the sample's last row, if the sample has many keys
   * in long runs.
   */
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

  /** Rows of the sample. */
  val Rows: Int = 8192

  /** With fewer changes of key, there are few keys, or the many rows of each key lie together. */
  private val FewestChanges = Rows / 64

  /** With more descents, runs are so short that to merge them takes longer. */
  private val MostDescents = 8
}
