package io.sash.spark.ordering

import java.util.{ArrayList, Arrays, Iterator => JavaIterator}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A hash table, with open addressing, of a list of records for each key. A list's key is read
 * from its first record and never copied. `clear` keeps the lists and the table for reuse, so
 * that millions of tiny keys make no garbage.
 */
private[spark] final class ListsByKey(records: Records, program: OrderProgram) {
  private[this] val keys = program.keyProjection()
  private[this] val keyOrdering = program.keyOrdering()
  private[this] val first = new UnsafeRow(program.within.input.length)
  private[this] val lists = new ArrayList[RecordList]()
  private[this] var hashes = new Array[Int](64)
  private[this] var used = 0

  /**
   * Numbers of lists, counted from 1; 0 is a free place. At most half of the places are taken.
   */
  private[this] var table = new Array[Int](2 * hashes.length)

  def clear(): Unit = {
    used = 0
    Arrays.fill(table, 0)
  }

  /** The lists in the order in which their keys first came, valid until `clear`. */
  def iterator: JavaIterator[RecordList] = lists.subList(0, used).iterator()

  /**
   * Adds a record to the list of its key.
   *
   * @param row the record's row
   * @param nulls whether the first sort column of a record may be NULL
   */
  def add(record: Long, row: UnsafeRow, nulls: Boolean): Unit =
    of(row).add(record, records.prefix(record), nulls)

  private def of(row: UnsafeRow): RecordList = {
    val hash = keys(row).hashCode
    var place = hash & (table.length - 1)
    var list = table(place) - 1
    while (list >= 0 && !(hashes(list) == hash && isOf(lists.get(list), row))) {
      place = (place + 1) & (table.length - 1)
      list = table(place) - 1
    }
    if (list >= 0) {
      lists.get(list)
    } else {
      table(place) = used + 1
      append(hash)
    }
  }

  private def isOf(list: RecordList, row: UnsafeRow): Boolean = {
    records.pointTo(list.inOrder.first, first)
    keyOrdering.compare(first, row) == 0
  }

  private def append(hash: Int): RecordList = {
    if (used == lists.size) lists.add(new RecordList(records))
    val list = lists.get(used)
    list.clear()
    hashes(used) = hash
    used += 1
    if (used == hashes.length) grow()
    list
  }

  private def grow(): Unit = {
    hashes = Arrays.copyOf(hashes, 2 * used)
    table = new Array[Int](4 * used)
    var list = 0
    while (list < used) {
      var place = hashes(list) & (table.length - 1)
      while (table(place) > 0) place = (place + 1) & (table.length - 1)
      table(place) = list + 1
      list += 1
    }
  }
}
