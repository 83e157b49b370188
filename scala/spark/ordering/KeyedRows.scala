package io.sash.spark.ordering

import java.util.{Collections, Iterator => JavaIterator}

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Groups rows by key, by hashing in two steps. On arrival, a row goes to one of a fixed number of
 * buckets by the hash of its key. A bucket has its rows in chunks of the task's pages. Chunks
 * grow with the bucket, so that one huge key and millions of tiny keys both fit. Later, a bucket
 * with several keys is split into a list for each key. One of many buckets fits the processor's
 * caches.
 *
 * Each row is compared with the youngest row of its key, so that only overtaken rows need sorting
 * ([[RecordList]]).
 */
private[spark] final class KeyedRows(
    pages: RowPages,
    val records: Records,
    program: OrderProgram
) {
  import KeyedRows._

  private[this] val fields = program.within.input.length
  private[this] val keyOrdering = program.keyOrdering()
  private[this] val digest = new RowDigest(program)
  private[this] var added = 0L

  /** The first bucket has all rows until `place`. A small task never has another one. */
  private[this] var filled = Array(newBucket())
  private[this] def placing = filled.length > 1 // whether rows go to buckets by hash

  // `split` reuses these
  private[this] val lists = new ListsByKey(records, program)
  private[this] val row = new UnsafeRow(fields)

  def count: Long = added

  /** The number of buckets; the rows of each bucket lie in the order of their arrival. */
  def buckets: Int = filled.length

  def bucket(i: Int): Bucket = filled(i)

  /** Copies a row into its bucket; false, with nothing changed, if there is no memory for it. */
  def add(row: UnsafeRow): Boolean =
    try {
      digest.read(row)
      val bucket = if (placing) filled(bucketOf(digest.hash)) else filled(First)
      val needed = Records.bytes(row)
      if (needed > bucket.room) {
        val bytes = bucket.nextChunk(needed)
        bucket.startChunk(pages.allocate(bytes), bytes)
      }
      bucket.add(row, needed, digest.prefix, digest.isNull)
      added += 1
      true
    } catch { case _: SparkOutOfMemoryError => false }

  /**
   * Moves the rows that have arrived to buckets by their hashes; later rows go there at once.
   * Before, all rows lie in one bucket in the order of their arrival. Spark's sorter needs that
   * order if all rows go to it.
   */
  def place(): Unit = if (!placing) {
    val unplaced = filled(First)
    filled = unplaced +: Array.fill(Buckets)(newBucket())
    unplaced.rows.foreach { record =>
      records.pointTo(record, row)
      digest.read(row)
      filled(bucketOf(digest.hash)).take(record, row, digest.prefix, digest.isNull)
    }
    unplaced.rows.clear()
  }

  private def newBucket(): Bucket = new Bucket(records, keyOrdering, fields)

  /** The rows of a bucket as a list for each key. The lists are valid until the next call. */
  def split(bucket: Bucket): JavaIterator[RecordList] =
    if (!bucket.isMixed) {
      Collections.singleton(bucket.rows).iterator()
    } else {
      lists.clear()
      bucket.rows.foreach { record =>
        records.pointTo(record, row)
        lists.add(record, row, bucket.hasNulls)
      }
      lists.iterator
    }
}

private[spark] object KeyedRows {

  /** The number of buckets: so many write positions fit the processor's caches. */
  val Buckets: Int = 1024

  /** The bucket of rows that are not placed by hash yet. */
  private val First = 0

  private def bucketOf(hash: Long): Int =
    1 + (hash >>> (64 - Integer.numberOfTrailingZeros(Buckets))).toInt
}

/** All rows whose keys hash to one bucket, in the order of their arrival. */
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

  /**
   * Whether the rows have several keys. From then on, each arriving row is chained as overtaken,
   * without a comparison.
   */
  var isMixed = false

  /** Whether some row has NULL in the first sort column. */
  var hasNulls = false

  /** Bytes that are left in the last chunk. */
  def room: Int = chunkSize - used

  /**
   * The size of the next chunk in bytes. It has room for four rows of `needed` bytes, or for an
   * eighth of the bucket if that is more, up to 64 KiB; for one row in any case. So little of it
   * is wasted.
   */
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

  /** Copies a row into the last chunk, which must have room. */
  def add(row: UnsafeRow, bytes: Int, prefix: Long, isNull: Boolean): Unit = {
    val record = chunk + used
    used += bytes
    records.write(record, prefix, row)
    take(record, row, prefix, isNull)
  }

  /** Adds a record whose row is in memory already. */
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
