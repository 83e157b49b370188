package io.sash.spark

import org.apache.spark.TaskContext
import org.apache.spark.memory.{SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.UnsafeAlignedOffset
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.{UnsafeInMemorySorter, UnsafeSorterIterator}

/**
 * What a task needs to hand rows out one key at a time, in order.
 *
 * @param keys the partition keys; rows without any are of one key
 * @param within the order of a key's rows
 */
private[spark] final case class OrderProgram(
    keys: Seq[Expression],
    within: RowOrder
) {
  def keyProjection(): UnsafeProjection =
    UnsafeProjection.create(if (keys.isEmpty) Seq(Literal(0)) else keys, within.input)

  /** Spark's own order of the same rows. */
  def whole: RowOrder = within.copy(order = keys.map(SortOrder(_, Ascending)) ++ within.order)
}

/**
 * Orders the rows of one task: by hashing into keys, and within a key by nothing at all if its
 * rows came in order, else by Spark's radix sort or its merge of runs ([[UnsafeInMemorySorter]]).
 *
 * Memory that runs out while rows arrive, or keys that are so many that each row would miss the
 * processor's caches, hand all rows to Spark's own sorter. Memory that
 * another consumer needs while rows go out moves those that are left to disk, in the order in
 * which they are due; a key that is still to be sorted then goes through Spark's sorter.
 */
private[spark] final class KeyedOrder(program: OrderProgram, metrics: OrderMetrics) {
  import KeyedOrder._

  private[this] val context = TaskContext.get()
  private[this] val manager: TaskMemoryManager = SparkInternals.taskMemoryManager(context)
  private[this] val fields = program.within.input.length
  private[this] val rows =
    new KeyedRows(manager, program.keyProjection(), program.within, () => moveToDisk())
  private[this] var output: Output = _

  /** The rows that are left, once they had to leave memory. */
  private[this] var disk: RowQueue = _
  private[this] var spilledBytes = 0L
  private[this] var keysSorted = 0L
  private[this] var sortNanos = 0L
  private[this] var bySpark = 0L

  context.addTaskCompletionListener[Unit] { _ =>
    metrics.report(
      rows.outOfOrder,
      rows.keyCount,
      keysSorted,
      bySpark,
      sortNanos,
      rows.peakBytes,
      spilledBytes
    )
    if (output != null) output.close()
    rows.close()
  }

  def ordered(input: Iterator[InternalRow]): Iterator[InternalRow] = {
    var fits = true
    while (fits && input.hasNext) {
      val row = input.next().asInstanceOf[UnsafeRow] // which may move the others to disk
      if (disk != null || !rows.add(row)) return sortedBySpark(row, input)
      fits = rows.keyCount <= MostKeys
    }
    if (disk == null && fits) {
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
    rows.close()
    if (row != null) sorter.insertRow(row)
    while (input.hasNext) sorter.insertRow(input.next().asInstanceOf[UnsafeRow])
    val sorted = sorter.sort()
    sortNanos += sorter.getSortTimeNanos
    sorted
  }

  /** Moves all rows that have not gone out to disk. */
  private def moveToDisk(): Unit = if (disk == null) {
    val queue = new RowQueue(fields, NoMemory)
    if (output == null) moveKeys(passed = 0L, queue) else output.moveTo(queue)
    queue.spill()
    disk = queue
    rows.freePages(if (output == null) null else output.page)
  }

  /** Moves the rows of all keys but the first `passed`, as they came. */
  private def moveKeys(passed: Long, queue: RowQueue): Unit = {
    val states = rows.states
    val walk = new KeyWalk(manager)
    val row = new UnsafeRow(fields)
    var key = 0L
    while (states.hasNext) {
      val state = states.next()
      var left =
        if (key < passed) 0L else KeyState.count(state.getValueBase, state.getValueOffset)
      if (left > 0) walk.start(state.getValueBase, state.getValueOffset)
      while (left > 0) {
        walk.pointTo(walk.next(), row)
        queue.add(row)
        left -= 1
      }
      key += 1
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
   * @param sorting whether the rows of a key go out in order, or as they came
   */
  private final class Output(sorting: Boolean) extends Iterator[UnsafeRow] {
    private[this] val states = rows.states
    private[this] val row = new UnsafeRow(fields)
    private[this] val walk = new KeyWalk(manager)
    private[this] val records = program.within.recordComparator
    private[this] val prefixes = program.within.prefixComparator
    private[this] val radix = program.within.radix && program.within.prefixDecides
    private[this] var pointers: LongArray = _
    private[this] var passed = 0L // keys that have been started

    /** Rows of the current key that are left. They come from one of these, or from `disk`. */
    private[this] var left = 0L
    private[this] var walking = false
    private[this] var sorted: UnsafeSorterIterator = _
    private[this] var merged: Iterator[InternalRow] = _

    override def hasNext: Boolean = left > 0 || nextKey()

    override def next(): UnsafeRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      left -= 1
      if (walking) {
        walk.pointTo(walk.next(), row)
        row
      } else if (sorted != null) {
        loadSorted(row)
        row
      } else if (merged != null) {
        merged.next().asInstanceOf[UnsafeRow]
      } else {
        disk.remove()
      }
    }

    /** The page of the row that went out last, which is still in use; null if it has none. */
    def page: MemoryBlock = rows.pageOf(row.getBaseObject, row.getBaseOffset)

    /** Moves what is left of the current key as it was to go out, and the others as they came. */
    def moveTo(queue: RowQueue): Unit = {
      val moved = new UnsafeRow(fields)
      var i = left
      while (i > 0) {
        if (walking) walk.pointTo(walk.next(), moved) else loadSorted(moved)
        queue.add(moved)
        i -= 1
      }
      moveKeys(passed, queue)
      walking = false
      sorted = null
      close()
    }

    def close(): Unit = if (pointers != null) {
      rows.freeArray(pointers)
      pointers = null
    }

    private def loadSorted(loaded: UnsafeRow): Unit = {
      sorted.loadNext()
      loaded.pointTo(sorted.getBaseObject, sorted.getBaseOffset, sorted.getRecordLength)
    }

    private def nextKey(): Boolean = {
      walking = false
      sorted = null
      merged = null
      while (left == 0 && states.hasNext) {
        val state = states.next()
        start(state.getValueBase, state.getValueOffset)
        passed += 1
      }
      left > 0
    }

    private def start(state: AnyRef, at: Long): Unit = {
      val count = KeyState.count(state, at)
      val inOrder = !sorting || KeyState.isSorted(state, at)
      if (count > 0) {
        if (!inOrder) keysSorted += 1
        if (!inOrder && disk == null && !sortInMemory(state, at, count)) moveToDisk()
        if (!inOrder && disk != null) {
          mergeFromDisk(count)
        } else if (disk == null && inOrder) {
          walk.start(state, at)
          walking = true
        }
        left = count
      }
    }

    /** False if there is no memory to sort in. */
    private def sortInMemory(state: AnyRef, at: Long, count: Long): Boolean =
      count <= MostSorted && {
        try {
          reserve(4 * (count + 1))
          val sorter = new UnsafeInMemorySorter(
            rows,
            manager,
            records,
            prefixes,
            pointers,
            radix && !KeyState.hasNulls(state, at)
          )
          walk.start(state, at)
          val toSize = KeyedRows.HeaderBytes - UnsafeAlignedOffset.getUaoSize
          var i = 0L
          while (i < count) {
            val record = walk.next()
            sorter.insertRecord(record + toSize, walk.prefix(record), false)
            i += 1
          }
          sorted = sorter.getSortedIterator
          sortNanos += sorter.getSortTimeNanos
          true
        } catch { case _: SparkOutOfMemoryError => false }
      }

    private def reserve(longs: Long): Unit =
      if (pointers == null || pointers.size < longs) {
        close()
        pointers = rows.allocateArray(longs)
      }

    private def mergeFromDisk(count: Long): Unit = {
      val sorter = program.within.sorter()
      var i = 0L
      while (i < count) {
        sorter.insertRow(disk.remove())
        i += 1
      }
      merged = sorter.sort()
      sortNanos += sorter.getSortTimeNanos
    }
  }
}

private[spark] object KeyedOrder {

  /** Rows of a key whose pointers fit an array, room to sort them included. */
  private val MostSorted = 1L << 28

  /** Keys whose state and last chunk stay in the processor's second cache. */
  private[spark] val MostKeys = 4096
}
