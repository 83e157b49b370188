package io.sash.spark

import java.util.{ArrayList, Collections, Iterator => JavaIterator}

import org.apache.spark.TaskContext
import org.apache.spark.memory.{SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.{UnsafeInMemorySorter, UnsafeSorterIterator}

/**
 * Orders the rows of one task: by hashing into keys, and within a key by nothing at all if its
 * rows came in order. Rows that came late are sorted, by Spark's radix sort or its merge of runs
 * ([[UnsafeInMemorySorter]]), and merged with the others as they go out.
 *
 * Memory that runs out while rows arrive hands all rows to Spark's own sorter, and so do first
 * rows that show it little to do ([[KeyRuns]]). Memory that another consumer needs while rows go
 * out moves those that are left to disk, in the order in which they are due; a key that is still
 * to be sorted then goes through Spark's sorter, and so does a bucket whose keys are still to be
 * told apart.
 */
private[spark] final class KeyedOrder(program: OrderProgram, metrics: OrderMetrics) {
  import KeyedOrder._

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
    private[this] val comparator = program.within.recordComparator
    private[this] val prefixes = program.within.prefixComparator
    private[this] val prefixDecides = program.within.prefixDecides
    private[this] val oneColumn = program.within.order.length == 1
    private[this] val strings =
      program.within.bytesColumn.map(new PackedPrefix(records, fields, _)).orNull
    private[this] var pointers: LongArray = _

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
    private[this] var lateLeft = 0L
    private[this] var late: UnsafeSorterIterator = _ // stands at the next one
    private[this] var ahead: UnsafeSorterIterator = _ // the same, up to a batch ahead
    private[this] var aheadBy = 0
    private[this] var merged: Iterator[InternalRow] = _

    override def hasNext: Boolean = left > 0 || nextList()

    override def next(): UnsafeRow = {
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

    def close(): Unit = if (pointers != null) {
      rows.freeArray(pointers)
      pointers = null
    }

    /** The next row of a list that is in memory; of equal ones, one in order came first. */
    private def load(loaded: UnsafeRow): Unit =
      if (lateLeft == 0 || (walking > 0 && !records.outOfOrder(record, late, hasNulls))) {
        records.pointTo(record, loaded)
        record = records.next(record) // of the last one it is not used
        walking -= 1
      } else {
        loaded.pointTo(late.getBaseObject, late.getBaseOffset, late.getRecordLength)
        lateLeft -= 1
        if (lateLeft > 0) loadLate()
      }

    /**
     * Late rows lie anywhere in memory. Reading sizes of a batch of them before they go out lets
     * the processor wait for all of them at once, not for one after the other.
     */
    private def loadLate(): Unit = {
      if (aheadBy == 0) {
        while (aheadBy < ReadAhead && ahead.hasNext) {
          ahead.loadNext()
          aheadBy += 1
        }
      }
      late.loadNext()
      aheadBy -= 1
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
      if (lateCount > 0 && disk == null && !sortInMemory(list.late)) {
        starting = list
        moveToDisk()
        starting = null
      }
      if (disk == null) {
        inMemory = true
        left = list.count
        record = list.inOrder.first
        walking = list.inOrder.count
        lateLeft = lateCount
        if (lateLeft > 0) loadLate()
      } else if (lateCount > 0) {
        merge(list.count, program.within)
      } else {
        left = list.count
      }
    }

    /** False if there is no memory to sort in. */
    private def sortInMemory(chain: RecordChain): Boolean =
      chain.count <= MostSorted && {
        try {
          val packed = strings != null && !hasNulls
          val decides =
            !hasNulls && (if (packed) strings.fit(chain) && oneColumn else prefixDecides)
          val byRadix = program.within.radix && decides
          // a pointer and a prefix for each row, and the room that the sort takes beside them
          reserve((if (byRadix) 4 else 3) * (chain.count + 1))
          val sorter =
            new UnsafeInMemorySorter(rows, manager, comparator, prefixes, pointers, byRadix)
          chain.foreach { record =>
            val prefix = if (packed) strings.prefix(record) else records.prefix(record)
            sorter.insertRecord(records.ofSorter(record), prefix, false)
          }
          // one walk, since no record was said to have NULL for its prefix
          val sorted = sorter.getSortedIterator.asInstanceOf[UnsafeInMemorySorter#SortedIterator]
          late = sorted
          ahead = sorted.clone()
          aheadBy = 0
          sortNanos += sorter.getSortTimeNanos
          true
        } catch { case _: SparkOutOfMemoryError => false }
      }

    private def reserve(longs: Long): Unit =
      if (pointers == null || pointers.size < longs) {
        close()
        pointers = rows.allocateArray(longs)
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

private[spark] object KeyedOrder {

  /** Rows of a key whose pointers fit an array, room to sort them included. */
  private val MostSorted = 1L << 28

  /** Late rows that are read at once: as many reads as a processor has on their way. */
  private val ReadAhead = 32
}
