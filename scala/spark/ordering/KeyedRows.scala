package io.sash.spark.ordering

import java.util.{ArrayList, Collections, Iterator => JavaIterator}

import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock

/**
 * Rows grouped by key by hashing, in two steps. As a row arrives it goes to one of a fixed number
 * of buckets by the hash of its key; the rows of a bucket lie behind each other, in chunks that
 * are cut from the task's pages and grow with the bucket, so that one huge key and millions of tiny
 * ones both fit. A bucket that turns out to have rows of several keys is split into lists when its
 * turn has come, in the processor's caches if it is one of many.
 *
 * Each row is compared with the youngest of its key, so that only rows that come late need sorting
 * ([[RecordList]]).
 *
 * @param free called when another consumer of the task's memory is in need
 */
private[spark] final class KeyedRows(
    manager: TaskMemoryManager,
    program: OrderProgram,
    free: () => Unit
) extends MemoryConsumer(
      manager,
      math.min(KeyedRows.SmallestPage, manager.pageSizeBytes),
      manager.getTungstenMemoryMode
    ) {
  import KeyedRows._

  private[this] val owner = Thread.currentThread()
  private[this] var busy = false

  val records = new Records(manager, program.within)
  private[this] val digest = new RowDigest(program)
  private[this] val filled = {
    val keys = program.keyOrdering()
    Array.fill(1 + Buckets)(new Bucket(records, keys, program.within.input.length))
  }
  private[this] var placing = false // into buckets by hash; the first rows all lie in one

  private[this] val pages = new ArrayList[MemoryBlock]()
  private[this] var page: MemoryBlock = _
  private[this] var pageUsed = 0L
  private[this] var peak = 0L

  // what splitting a bucket takes
  private[this] val lists = new ListsByKey(records)
  private[this] val keys = program.keyProjection()
  private[this] val row = new UnsafeRow(program.within.input.length)

  def peakBytes: Long = math.max(peak, getUsed)

  /** All buckets; the rows of each in the order of their arrival. */
  def buckets: Int = filled.length

  def bucket(i: Int): Bucket = filled(i)

  /** Takes a copy of a row; false, and nothing is changed, if there is no memory for it. */
  def add(row: UnsafeRow): Boolean = {
    busy = true
    try {
      digest.read(row)
      val bucket = if (placing) filled(bucketOf(digest.hash)) else filled(First)
      val needed = Records.bytes(row)
      if (needed > bucket.room) {
        val bytes = bucket.nextChunk(needed)
        bucket.startChunk(allocate(bytes), bytes)
      }
      bucket.add(row, needed, digest.prefix, digest.isNull)
      true
    } catch { case _: SparkOutOfMemoryError => false }
    finally busy = false
  }

  /**
   * Places the rows that are here, and those to come, by their hashes. Until then they lie in one
   * bucket, in the order of their arrival, of which Spark's sort makes use if all go there.
   */
  def place(): Unit = if (!placing) {
    placing = true
    val unplaced = filled(First)
    unplaced.rows.foreach { record =>
      records.pointTo(record, row)
      digest.read(row)
      filled(bucketOf(digest.hash)).take(record, row, digest.prefix, digest.isNull)
    }
    unplaced.rows.clear()
  }

  /** The rows of a bucket, a list for each key; valid until the next call. */
  def split(bucket: Bucket): JavaIterator[RecordList] =
    if (!bucket.isMixed) {
      Collections.singleton(bucket.rows).iterator()
    } else {
      lists.clear()
      bucket.rows.foreach { record =>
        records.pointTo(record, row)
        lists.of(keys(row)).add(record, records.prefix(record), bucket.hasNulls)
      }
      lists.iterator
    }

  /** The address of so many bytes of a page. */
  private def allocate(bytes: Int): Long = {
    if (page == null || pageUsed + bytes > page.size) {
      // as large as all before, so that no task takes much more than its rows
      page = allocatePage(math.max(bytes.toLong, math.min(getUsed, manager.pageSizeBytes)))
      pages.add(page)
      pageUsed = 0L
      peak = math.max(peak, getUsed)
    }
    val start = manager.encodePageNumberAndOffset(page, page.getBaseOffset + pageUsed)
    pageUsed += bytes
    start
  }

  /**
   * Only the thread that uses the rows may move them, and not while one of them is added: then
   * it is the rows themselves that give way.
   */
  override def spill(size: Long, trigger: MemoryConsumer): Long =
    if (busy || pages.isEmpty || trigger == this || Thread.currentThread() != owner) {
      0L
    } else {
      val before = getUsed
      free()
      before - getUsed
    }

  override def freeArray(array: LongArray): Unit = {
    peak = math.max(peak, getUsed)
    super.freeArray(array)
  }

  /** Gives back all pages but one, which may be null. */
  def freePages(kept: MemoryBlock): Unit = {
    peak = math.max(peak, getUsed)
    var i = pages.size - 1
    while (i >= 0) {
      if (!(pages.get(i) eq kept)) freePage(pages.remove(i))
      i -= 1
    }
    page = null
  }

  /** The page that holds what lies there, or null. */
  def pageOf(base: AnyRef, offset: Long): MemoryBlock = {
    var i = 0
    while (i < pages.size && !holds(pages.get(i), base, offset)) i += 1
    if (i < pages.size) pages.get(i) else null
  }

  private def holds(page: MemoryBlock, base: AnyRef, offset: Long): Boolean =
    if (base != null) page.getBaseObject eq base
    else page.getBaseOffset <= offset && offset < page.getBaseOffset + page.size
}

private[spark] object KeyedRows {

  /** As many as the processor's caches can write to by turns. */
  val Buckets: Int = 1024

  /** The bucket of rows that are not placed yet. */
  private val First = 0

  /** Spark keeps pages from this size on, to use them again. */
  private val SmallestPage = 1L << 20

  private def bucketOf(hash: Long): Int =
    1 + (hash >>> (64 - Integer.numberOfTrailingZeros(Buckets))).toInt
}

/** The rows of all keys of some hashes, in the order of their arrival. */
private[spark] final class Bucket(
    records: Records,
    keys: Ordering[InternalRow],
    fields: Int
) {
  import Bucket._

  val rows = new RecordList(records)

  private[this] val first = new UnsafeRow(fields)
  private[this] var chunk = 0L
  private[this] var chunkSize = 0
  private[this] var used = 0
  private[this] var total = 0L // bytes of all chunks

  /** Whether there are rows of several keys; those that come then count as late, unseen. */
  var isMixed = false

  /** Whether the first sort column of a row is NULL. */
  var hasNulls = false

  /** Bytes that are left in the last chunk. */
  def room: Int = chunkSize - used

  /** How large the next chunk is to be: for some rows like this one, so that little is in vain. */
  def nextChunk(needed: Int): Int = {
    val rows = math.min(math.max(total / 8 / needed, FewestRows), LargestChunk / needed)
    (math.max(1, rows.toInt) * needed + 7) / 8 * 8
  }

  def startChunk(start: Long, bytes: Int): Unit = {
    chunk = start
    chunkSize = bytes
    total += bytes
    used = 0
  }

  /** Takes a copy of a row, for which there is room. */
  def add(row: UnsafeRow, bytes: Int, prefix: Long, isNull: Boolean): Unit = {
    val record = chunk + used
    used += bytes
    records.write(record, prefix, row)
    take(record, row, prefix, isNull)
  }

  /** Takes a record of a row that is in memory already. */
  def take(record: Long, row: UnsafeRow, prefix: Long, isNull: Boolean): Unit = {
    if (isNull) hasNulls = true
    if (rows.count == 0) records.pointTo(record, first)
    else if (!isMixed && keys.compare(row, first) != 0) isMixed = true
    if (isMixed) rows.late.add(record) else rows.add(record, prefix, hasNulls)
  }
}

private object Bucket {
  private val FewestRows = 4L
  private val LargestChunk = 64 * 1024
}
