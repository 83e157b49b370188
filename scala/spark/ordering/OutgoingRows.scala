package io.sash.spark.ordering

import java.util.{Collections, List => JavaList}

import org.apache.spark.TaskContext
import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sash.{RowFile, SparkInternals}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock

import io.sash.spark.memory.{Spillable, Turns}

/**
 * The rows in their output order. A row is valid until the next call. The rows lie in memory
 * until another memory consumer needs it, perhaps in another thread. Then all rows are written to
 * a file, first the rest of the current key in its output order. That rest goes out from the
 * file, and all other rows go through Spark's sorter.
 *
 *  - (O1) `cursor` is null once the rows have left memory. Only a thread in its turn uses the
 *    cursor and its rows
 *  - (O2) the page of the row that went out last is kept until the next call
 *  - (O3) the last row is a copy. When it goes out, all memory and files are released
 *
 * @param sorting whether rows go out in order. If not, they go out unsorted, for Spark's sorter
 */
private[spark] final class OutgoingRows(
    rows: KeyedRows,
    pages: RowPages,
    program: OrderProgram,
    sorting: Boolean,
    counts: OrderCounts
) extends Iterator[UnsafeRow]
    with Spillable {
  import OutgoingRows._

  private[this] val context = TaskContext.get()
  private[this] val fields = program.within.input.length
  private[this] val row = new UnsafeRow(fields)
  private[this] var remaining = rows.count

  private[this] val turns = new Turns
  private[this] var cursor = new KeyCursor(rows, program.within, sorting, counts)

  // the rows that have left memory
  private[this] var file: RowFile = _
  private[this] var isPageKept = false // whether O2 keeps a page
  private[this] var written: Iterator[UnsafeRow] = _
  private[this] var due = 0L // rows of `written` that go out without sorting
  private[this] var sorted: Iterator[UnsafeRow] = _ // all rows after them

  pages.outgoing = this

  override def hasNext: Boolean = remaining > 0

  override def next(): UnsafeRow = {
    SparkInternals.throwIfKilled(context)
    if (remaining == 0) throw new NoSuchElementException("no more rows")
    remaining -= 1
    val next = if (load()) row else nextOfDisk()
    if (remaining > 0) {
      next
    } else {
      val last = next.copy()
      pages.close()
      last
    }
  }

  /** Points `row` to the next row; false if the rows have left memory. */
  private def load(): Boolean = {
    var missing = tryToLoad()
    while (missing > 0) {
      makeRoom(missing)
      missing = tryToLoad()
    }
    missing == 0
  }

  /**
   * Points `row` to the next row and returns 0. If a larger sort array is needed first, returns
   * its size in longs. If the rows have left memory, returns `HaveLeft`.
   */
  private def tryToLoad(): Long = {
    turns.take()
    try if (cursor == null) HaveLeft else cursor.load(row)
    finally turns.end()
  }

  /**
   * Allocates a sort array. If there is no memory for it, the rows leave memory, and Spark sorts
   * them.
   */
  private def makeRoom(longs: Long): Unit = {
    free(use(null))
    if (longs > OvertakenRows.MostLongs) {
      spill()
    } else {
      try free(use(pages.allocateArray(longs)))
      catch { case _: SparkOutOfMemoryError => spill() }
    }
  }

  /**
   * Makes `array` the sort array. Returns the array to free: the former one, or `array` itself if
   * the rows have left memory.
   */
  private def use(array: LongArray): LongArray =
    turns.during(if (cursor == null) array else cursor.late.use(array))

  private def nextOfDisk(): UnsafeRow = {
    if (isPageKept) {
      isPageKept = false
      pages.free(turns.during(pages.take(null)))
    }
    if (written == null)
      throw new IllegalStateException("rows were not written, or the task ended")
    if (due > 0) {
      due -= 1
      written.next()
    } else {
      if (sorted == null) sorted = counts.sorted(new StableSorter(program.whole), written)
      sorted.next()
    }
  }

  override def spill(): Long = {
    val bytes =
      pages.free(turns.during(if (cursor == null) Collections.emptyList() else moveToDisk()))
    SparkInternals.countMemorySpilled(context, bytes)
    bytes
  }

  /** Writes the rows to disk and returns the pages to free. */
  private def moveToDisk(): JavaList[MemoryBlock] = {
    val leaving = cursor
    cursor = null // set first: after a failed write no row is read
    due = if (sorting) leaving.remaining else Long.MaxValue
    file = new RowFile(fields, context)
    written = file.write(leaving.moveTo)
    counts(OrderMetrics.SpillSize) += file.bytes
    val array = leaving.late.use(null)
    val taken = pages.take(row)
    isPageKept = true
    if (array != null) taken.add(array.memoryBlock)
    taken
  }

  override def close(): Unit = {
    free(turns.during {
      val array = if (cursor == null) null else cursor.late.use(null)
      cursor = null
      array
    })
    if (file != null) file.close()
    sorted = null
  }

  private def free(array: LongArray): Unit = if (array != null) pages.freeArray(array)
}

private object OutgoingRows {

  /** A result of `tryToLoad`: the rows have left memory. */
  private val HaveLeft = -1L
}
