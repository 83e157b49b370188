package io.sash.spark.ordering

import java.util.{Collections, Iterator => JavaIterator}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Iterates over rows in memory, key by key. For each key, it merges the chain of records that
 * arrived in order with the sorted overtaken records.
 *
 * @param sorting whether the rows of a key go out in order. If not, all rows go out unsorted
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
  // whether some row of the bucket has NULL in the first sort column
  private[this] var hasNulls = false

  // The rows after the current key. First comes a list that waits for a larger sort array, or
  // null, then the rest of the bucket's `lists`, then the buckets after `bucket`.
  private[this] var next: RecordList = _
  private[this] var needed = 0L // the size, in longs, of the sort array for `next`
  private[this] var lists: JavaIterator[RecordList] = Collections.emptyIterator()
  private[this] var bucket = -1

  /** Rows of the current key that have not gone out. */
  def remaining: Long = walking + late.count

  /**
   * Points `loaded` to the next row, which must exist, and returns 0. If the sort array is too
   * small for the next key, returns the size in longs that it needs.
   */
  def load(loaded: UnsafeRow): Long = {
    val missing = if (isAtEnd) startNext() else 0L
    if (missing == 0) point(loaded)
    missing
  }

  private def isAtEnd: Boolean = walking == 0 && late.isEmpty

  /** Points `loaded` to the key's next row. Among equal rows, the one in order goes first. */
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
   * Begins the next key and returns 0. If the sort array is too small, returns the size in longs
   * that it needs.
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
   * Gives `sink` the rest of the current key in its output order, then all other rows unsorted.
   * Equal rows come in the order of their arrival.
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

  /** The next list with rows. One of the two lists of an unsorted bucket may be empty. */
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
