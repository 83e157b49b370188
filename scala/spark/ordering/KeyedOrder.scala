package io.sash.spark.ordering

import java.util.{ArrayList, Collections, Iterator => JavaIterator}

import org.apache.spark.TaskContext
import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.memory.MemoryBlock

import io.sash.spark.memory.{RowQueue, WindowMemory}

/**
 * Orders the rows of one task: by hashing into keys, and within a key by nothing at all if its
 * rows came in order. Rows that came late are sorted ([[LateRecords]]), and merged with the others
 * as they go out.
 *
 * Memory that runs out while rows arrive hands all rows to Spark's own sorter, and so do first
 * rows that show it little to do ([[KeyRuns]]). Memory that another consumer needs while rows go
 * out moves those that are left to disk, in the order in which they are due; a key that is still
 * to be sorted then goes through Spark's sorter, and so does a bucket whose keys are still to be
 * told apart.
 */
private[spark] final class KeyedOrder(program: OrderProgram, metrics: OrderMetrics) {
  private[this] val context = TaskContext.get()
  private[this] val manager: TaskMemoryManager = SparkInternals.taskMemoryManager(context)
  private[this] val fields = program.within.input.length
  private[this] val rows =
    new KeyedRows(manager, program, () => moveToDisk())
  private[this] val records = rows.records
  private[this] var output: Output = _

  /** The rows that are left, once they had to leave memory. */
  private[this] var disk: RowQueue = _
  private[this] var spilledBytes = 0L
  private[this] var keys = 0L
  private[this] var keysSorted = 0L
  private[this] var outOfOrder = 0L
  private[this] var sortNanos = 0L
  private[this] var bySpark = 0L

  context.addTaskCompletionListener[Unit] { _ =>
    metrics.report(
      outOfOrder,
      keys,
      keysSorted,
      bySpark,
      sortNanos,
      rows.peakBytes,
      spilledBytes
    )
    if (output != null) output.close()
    rows.freePages(null)
  }

  def ordered(input: Iterator[InternalRow]): Iterator[InternalRow] = {
    val runs = new KeyRuns(program)
    while (input.hasNext) {
      val row = input.next().asInstanceOf[UnsafeRow] // which may move the others to disk
      if (disk != null || runs.areLong(row) || !rows.add(row)) return sortedBySpark(row, input)
      if (runs.isOver) rows.place()
    }
    if (disk == null) {
      rows.place()
      output = new Output(sorting = true)
      output
    } else {
      sortedBySpark(null, input)
    }
  }

  /** All rows through Spark's sorter: those that are here, `row` if there is one, those to come. */
  private def sortedBySpark(
      row: UnsafeRow,
      input: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    bySpark = 1
    val sorter = program.whole.sorter() // which may need the memory of the rows that are here
    output = new Output(sorting = false)
    while (output.hasNext) sorter.insertRow(output.next())
    rows.freePages(null)
    if (row != null) sorter.insertRow(row)
    while (input.hasNext) sorter.insertRow(input.next().asInstanceOf[UnsafeRow])
    val sorted = sorter.sort()
    sortNanos += sorter.getSortTimeNanos
    sorted
  }

  /** Moves all rows that have not gone out to disk. */
  private def moveToDisk(): Unit = if (disk == null) {
    val queue = new RowQueue(fields, NoMemory)
    if (output == null) moveBuckets(0, queue) else output.moveTo(queue)
    queue.spill()
    disk = queue
    rows.freePages(if (output == null) null else output.page)
  }

  /** Moves the rows of the buckets from this one on, as they came. */
  private def moveBuckets(from: Int, queue: RowQueue): Unit = {
    var i = from
    while (i < rows.buckets) {
      move(rows.bucket(i).rows, queue)
      i += 1
    }
  }

  private def move(list: RecordList, queue: RowQueue): Unit = {
    val row = new UnsafeRow(fields)
    list.foreach { record =>
      records.pointTo(record, row)
      queue.add(row)
    }
  }

  /** The disk takes what memory refuses. */
  private object NoMemory extends WindowMemory {
    override def tryAcquire(bytes: Long): Boolean = false
    override def release(bytes: Long): Unit = ()
    override def spilled(bytes: Long): Unit = spilledBytes += bytes
  }

  /**
   * Rows that go out, key by key; each is valid until the next.
   *
   * @param sorting whether the rows of a key go out in order, or all as they lie
   */
  private final class Output(sorting: Boolean) extends Iterator[UnsafeRow] {
    private[this] val row = new UnsafeRow(fields)
    private[this] val late = new LateRecords(rows, program.within)

    private[this] var bucket = -1 // the one that goes out
    private[this] var hasNulls = false // and whether one of its first sort columns is
    private[this] var lists: JavaIterator[RecordList] = Collections.emptyIterator()
    private[this] var starting: RecordList = _ // a list that has left `lists` and is all here

    /**
     * Rows of the current list that are left. In memory, two sources are merged: a walk along the
     * records in order, and the late ones, sorted. Else rows come from the disk, and through
     * Spark's sorter if some of them are late.
     */
    private[this] var left = 0L
    private[this] var inMemory = false
    private[this] var walking = 0L // so many of a walk are left
    private[this] var record = 0L // the next one of them
    private[this] var merged: Iterator[InternalRow] = _

    override def hasNext: Boolean = left > 0 || nextList()

    override def next(): UnsafeRow = {
      SparkInternals.throwIfKilled(context)
      if (!hasNext) throw new NoSuchElementException("no more rows")
      left -= 1
      if (inMemory) {
        load(row)
        row
      } else if (merged != null) {
        merged.next().asInstanceOf[UnsafeRow]
      } else {
        disk.remove()
      }
    }

    /** The page of the row that went out last, which is still in use; null if it has none. */
    def page: MemoryBlock = rows.pageOf(row.getBaseObject, row.getBaseOffset)

    /** Moves what is left of the current list as it was to go out, and the others as they came. */
    def moveTo(queue: RowQueue): Unit = {
      val moved = new UnsafeRow(fields)
      var i = left
      while (i > 0) {
        load(moved)
        queue.add(moved)
        i -= 1
      }
      inMemory = false
      close()
      if (starting != null) move(starting, queue)
      val others = new ArrayList[RecordList]()
      lists.forEachRemaining { list =>
        others.add(list)
        move(list, queue)
      }
      lists = others.iterator()
      moveBuckets(bucket + 1, queue)
    }

    def close(): Unit = late.free()

    /** The next row of a list that is in memory; of equal ones, one in order came first. */
    private def load(loaded: UnsafeRow): Unit =
      if (late.isEmpty || (walking > 0 && !records.outOfOrder(record, late.first, hasNulls))) {
        records.pointTo(record, loaded)
        record = records.next(record) // of the last one it is not used
        walking -= 1
      } else {
        records.pointTo(late.first, loaded)
        late.removeFirst()
      }

    private def nextList(): Boolean = {
      inMemory = false
      merged = null
      while (left == 0 && lists.hasNext) start(lists.next())
      while (left == 0 && bucket + 1 < rows.buckets) nextBucket()
      left > 0
    }

    private def nextBucket(): Unit = {
      bucket += 1
      val next = rows.bucket(bucket)
      if (next.rows.count > 0) {
        hasNulls = next.hasNulls
        if (next.isMixed && sorting && disk != null) {
          merge(next.rows.count, program.whole)
        } else {
          lists = if (sorting) rows.split(next) else next.rows.unsorted
          start(lists.next())
        }
      }
    }

    private def start(list: RecordList): Unit = {
      val lateCount = list.late.count
      if (sorting) {
        keys += 1
        outOfOrder += lateCount
        if (lateCount > 0) keysSorted += 1
      }
      if (lateCount > 0 && disk == null) {
        if (late.sort(list.late, hasNulls)) {
          sortNanos += late.sortNanos
        } else {
          starting = list
          moveToDisk()
          starting = null
        }
      }
      if (disk == null) {
        inMemory = true
        left = list.count
        record = list.inOrder.first
        walking = list.inOrder.count
      } else if (lateCount > 0) {
        merge(list.count, program.within)
      } else {
        left = list.count
      }
    }

    /** The next rows of the disk, in order. */
    private def merge(count: Long, order: RowOrder): Unit = {
      val sorter = order.sorter()
      var i = 0L
      while (i < count) {
        sorter.insertRow(disk.remove())
        i += 1
      }
      merged = sorter.sort()
      sortNanos += sorter.getSortTimeNanos
      left = count
    }
  }
}
