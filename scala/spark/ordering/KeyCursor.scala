package io.sash.spark.ordering

import java.util.{Collections, Iterator => JavaIterator}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Goes through rows in memory, key by key. It merges the rows of a key from two sources: the
 * chain of the records that came in order, and the overtaken records, sorted.
 *
 * @param sorting whether the rows of a key go out in order; else all rows go out as they lie
 */
private[spark] final class KeyCursor(
    rows: KeyedRows,
    order: RowOrder,
    sorting: Boolean,
    counts: OrderCounts
) {
  private[this] val records = rows.records
  private[this] val row = new UnsafeRow(order.input.length)

  /** The overtaken rows of the current key. */
  val late = new OvertakenRows(records, order)

  private[this] var walking = 0L // rows left in the current key's in-order chain
  private[this] var record = 0L // the next record of that chain
  // whether a first sort column in the bucket is NULL
  private[this] var hasNulls = false

  // The rows after the current key: a list that waits for room to be sorted, or null; then the
  // rest of the bucket's `lists`; then the buckets after `bucket`.
  private[this] var next: RecordList = _
  private[this] var needed = 0L // longs that sorting `next` takes
  private[this] var lists: JavaIterator[RecordList] = Collections.emptyIterator()
  private[this] var bucket = -1

  /** Rows of the current key that have not gone out. */
  def remaining: Long = walking + late.count

  /**
   * Points `loaded` to the next row, which must exist, and answers 0. If the sort array is too
   * small for the next key, answers the longs that it needs instead.
   */
  def load(loaded: UnsafeRow): Long = {
    val missing = if (isAtEnd) startNext() else 0L
    if (missing == 0) point(loaded)
    missing
  }

  private def isAtEnd: Boolean = walking == 0 && late.isEmpty

  /** Points `loaded` to the next row of the key. Of equal rows, the one in order came first. */
  private def point(loaded: UnsafeRow): Unit =
    if (late.isEmpty || (walking > 0 && !records.outOfOrder(record, late.first, hasNulls))) {
      records.pointTo(record, loaded)
      record = records.next(record) // the last record's link is not used
      walking -= 1
    } else {
      records.pointTo(late.first, loaded)
      late.removeFirst()
    }

  /**
   * Begins the next key and answers 0; or, if the sort array is too small, answers its needed
   * longs.
   */
  private def startNext(): Long = {
    if (next == null) {
      next = nextList()
      needed = if (next.late.count > 0) late.plan(next.late, hasNulls) else 0L
    }
    if (needed > late.room) {
      needed
    } else {
      start(next)
      next = null
      0L
    }
  }

  private def start(list: RecordList): Unit = {
    record = list.inOrder.first
    walking = list.inOrder.count
    if (list.late.count > 0) late.sort()
    if (sorting) counts.key(list.late.count, late.sortNanos)
  }

  /**
   * Gives `sink` the rest of the current key in its output order, and then all other rows in the
   * order in which they came.
   */
  def moveTo(sink: UnsafeRow => Unit): Unit = {
    while (!isAtEnd) {
      point(row)
      sink(row)
    }
    if (next != null) move(next, sink)
    lists.forEachRemaining(move(_, sink))
    while (bucket + 1 < rows.buckets) {
      bucket += 1
      move(rows.bucket(bucket).rows, sink)
    }
  }

  private def move(list: RecordList, sink: UnsafeRow => Unit): Unit = list.foreach { record =>
    records.pointTo(record, row)
    sink(row)
  }

  /** The next list that has rows. Of the two lists of an unsorted bucket, one may be empty. */
  private def nextList(): RecordList = {
    var list = if (lists.hasNext) lists.next() else null
    while (list == null || list.count == 0) {
      if (!lists.hasNext) openBucket()
      list = if (lists.hasNext) lists.next() else null
    }
    list
  }

  private def openBucket(): Unit = {
    bucket += 1
    val opened = rows.bucket(bucket)
    hasNulls = opened.hasNulls
    if (opened.rows.count > 0) {
      lists = if (sorting) rows.split(opened) else opened.rows.unsorted
    }
  }
}
