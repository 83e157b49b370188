package io.sash.spark

import java.util.{ArrayList, Collections, Iterator => JavaIterator}

import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
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
    keys: UnsafeProjection,
    order: RowOrder,
    free: () => Unit
) extends MemoryConsumer(manager, manager.pageSizeBytes, manager.getTungstenMemoryMode) {
  import KeyedRows._

  private[this] val owner = Thread.currentThread()
  private[this] var busy = false

  val records = new Records(manager, order)
  private[this] val prefixes = order.prefixComputer
  private[this] val filled = Array.fill(Buckets)(new Bucket(records))

  private[this] val pages = new ArrayList[MemoryBlock]()
  private[this] var page: MemoryBlock = _
  private[this] var pageUsed = 0L
  private[this] var peak = 0L

  // what splitting a bucket takes
  private[this] val lists = new ListsByKey(records)
  private[this] val row = new UnsafeRow(order.input.length)

  def peakBytes: Long = math.max(peak, getUsed)

  def bucket(i: Int): Bucket = filled(i)

  /** Takes a copy of a row; false, and nothing is changed, if there is no memory for it. */
  def add(row: UnsafeRow): Boolean = {
    busy = true
    try {
      val key = keys(row)
      val bucket = filled(bucketOf(key))
      val needed = Records.bytes(row)
      if (needed > bucket.room) {
        val bytes = bucket.nextChunk(needed)
        bucket.startChunk(allocate(bytes), bytes)
      }
      val prefix = prefixes.computePrefix(row)
      bucket.add(key, prefix.value, prefix.isNull, row, needed)
      true
    } catch { case _: SparkOutOfMemoryError => false }
    finally busy = false
  }

  /** The rows of a bucket, a list for each key; valid until the next call. */
  def split(bucket: Bucket): JavaIterator[RecordList] =
    if (!bucket.isMixed) {
      Collections.singleton(bucket.rows).iterator()
    } else {
      lists.clear()
      bucket.rows.foreach { record =>
        records.pointTo(record, row)
        lists.of(keys(row)).add(record, bucket.hasNulls)
      }
      lists.iterator
    }

  /** The address of so many bytes of a page. */
  private def allocate(bytes: Int): Long = {
    if (page == null || pageUsed + bytes > page.size) {
      page = allocatePage(bytes.toLong)
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

  /** The upper bits of the hash, spread; Spark partitions by hashes of its own. */
  private def bucketOf(key: UnsafeRow): Int =
    (key.hashCode * 0x9e3779b9) >>> (32 - Integer.numberOfTrailingZeros(Buckets))
}

/** The rows of all keys of some hashes, in the order of their arrival. */
private[spark] final class Bucket(records: Records) {
  import Bucket._

  val rows = new RecordList(records)

  private[this] var firstKey: UnsafeRow = _
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
  def add(key: UnsafeRow, prefix: Long, isNull: Boolean, row: UnsafeRow, bytes: Int): Unit = {
    val record = chunk + used
    used += bytes
    records.write(record, prefix, row)
    if (isNull) hasNulls = true
    if (firstKey == null) firstKey = key.copy()
    else if (!isMixed && key != firstKey) isMixed = true
    if (isMixed) rows.late.add(record) else rows.add(record, hasNulls)
  }
}

private object Bucket {
  private val FewestRows = 4L
  private val LargestChunk = 64 * 1024
}
