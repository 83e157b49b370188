package io.sash.core.frames

import java.nio.ByteBuffer

import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.Bytes

/**
 * The rows from the last beginning up to the current row. Which rows are beginnings is the rule
 * of the subclass; the first row always is one.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 2.2 (punctuation).
 *
 * @param rows the rows by which beginnings are found
 */
sealed abstract class SinceFrame(windows: Array[InOrderWindow], rows: Rows)
    extends Frame(windows, rows) {

  /** Whether frames begin at this row. It enters next, and another row has come before it. */
  protected def begins(row: Long): Boolean

  /** The first row that `begins` may still compare with the next row to enter. */
  protected def compared: Long = entered - 1

  override final def evicts: Boolean = false

  override final def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    while (entered <= current) {
      if (entered > 0 && begins(entered)) leaveTo(entered)
      enterTo(entered + 1)
      rows.forgetBefore(compared)
    }
    true
  }

  // in a JoinedFrame the first row of the window may be another part's
  override def write(out: Bytes): Unit = out.putNumber(evicted)

  override def read(in: ByteBuffer): Unit = evicted = Bytes.number(in)
}

/**
 * A session: it begins at a row that lies above the upper bound of the row before it. There is no
 * gap between rows of equal keys.
 *
 * @param isBounded whether a session also begins at a row if the present session's first row lies
 *   below the row's lower bound
 */
final class GapFrame(windows: Array[InOrderWindow], keys: Rows, isBounded: Boolean = false)
    extends SinceFrame(windows, keys) {

  override protected def begins(row: Long): Boolean =
    isBehindGap(row) || isBounded && keys.isBelow(evicted, row)

  private def isBehindGap(row: Long): Boolean =
    !keys.arePeers(row - 1, row) && keys.isAbove(row, row - 1)

  override protected def compared: Long = if (isBounded) evicted else entered - 1

  override def isOver(last: Long, now: Long): Boolean =
    !keys.arePeers(last, now) && keys.isAbove(now, last)

  override def remembers: Boolean = isBounded

  override def write(out: Bytes): Unit = {
    super.write(out)
    if (isBounded && evicted < entered) keys.write(evicted, out)
  }

  override def read(in: ByteBuffer): Unit = {
    super.read(in)
    if (isBounded && evicted < entered) keys.read(evicted, in)
  }
}

/** The rows since a punctuation: a row for which the condition of `rows` holds. */
final class PunctuationFrame(windows: Array[InOrderWindow], rows: Rows)
    extends SinceFrame(windows, rows) {
  override protected def begins(row: Long): Boolean = rows.holds(row)
}
