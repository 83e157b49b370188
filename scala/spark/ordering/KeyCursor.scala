package io.sash.spark.ordering

import java.util.{Collections, Iterator => JavaIterator}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Goes through rows in memory, key by key. The rows of a key are merged from two sources, a walk
 * along the records that came in order, and the late ones, sorted.
 *
 * @param sorting whether the rows of a key go out in order, or all as they lie
 */
private[spark] final class KeyCursor(
    rows: KeyedRows,
    order: RowOrder,
    sorting: Boolean,
    counts: OrderCounts
) {
  private[this] val records = rows.records
  private[this] val row = new UnsafeRow(order.input.length)

  /** The late rows of the key that goes out. */
  val late = new OvertakenRows(records, order)

  private[this] var walking = 0L // so many of a walk are left
  private[this] var record = 0L // the next one of them
  private[this] var hasNulls = false // whether one of the bucket's first sort columns is

  // what comes after the key that goes out: a list, if one waits for room, those of its bucket,
  // and the buckets behind that
  private[this] var next: RecordList = _
  private[this] var needed = 0L // longs, to sort it
  private[this] var lists: JavaIterator[RecordList] = Collections.emptyIterator()
  private[this] var bucket = -1

  /** Rows of the key that are left. */
  def left: Long = walking + late.count

  /**
   * Points `loaded` to the next row, of which there is one; or else answers how many longs the
   * array has to have in which the next key is sorted.
   */
  def load(loaded: UnsafeRow): Long = {
    val missing = if (isAtEnd) startNext() else 0L
    if (missing == 0) point(loaded)
    missing
  }

  private def isAtEnd: Boolean = walking == 0 && late.isEmpty

  /** The next row of the key; of equal ones, one in order came first. */
  private def point(loaded: UnsafeRow): Unit =
    if (late.isEmpty || (walking > 0 && !records.outOfOrder(record, late.first, hasNulls))) {
      records.pointTo(record, loaded)
      record = records.next(record) // of the last one it is not used
      walking -= 1
    } else {
      records.pointTo(late.first, loaded)
      late.removeFirst()
    }

  /** Goes on with the next key; if it has no room to sort it, it answers what it needs. */
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

  /** Hands over what is left of the key as it was to go out, and all others as they came. */
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

  /** The next list that has rows: of rows as they lie, one of the two may have none. */
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
