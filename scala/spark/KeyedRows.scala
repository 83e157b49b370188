package io.sash.spark

import java.util.{ArrayList, Iterator => JavaIterator}

import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.unsafe.{Platform, UnsafeAlignedOffset}
import org.apache.spark.unsafe.map.BytesToBytesMap
import org.apache.spark.unsafe.memory.MemoryBlock

/**
 * Rows grouped by key by hashing: those of one key lie behind each other, in a list of chunks
 * that are cut from the task's pages and double in size, so that one huge key and millions of
 * tiny ones both fit. As a row arrives it is compared with the last one of its key, so that a
 * key whose rows come in order is known to need no sorting.
 *
 * A record is a prefix (8 bytes), the row's size as Spark's sorters expect it (8 bytes) and the
 * row. What is known of a key is the value of Spark's hash map, at the offsets of [[KeyState]].
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
  private[this] var busy = true
  private[this] val map = new BytesToBytesMap(manager, InitialKeys, manager.pageSizeBytes)
  private[this] val location = new map.Location()
  private[this] val initialState = new Array[Byte](KeyState.Bytes)

  private[this] val pages = new ArrayList[MemoryBlock]()
  private[this] var page: MemoryBlock = _
  private[this] var pageUsed = 0L

  private[this] val prefixes = order.prefixComputer
  private[this] val prefixComparator = order.prefixComparator
  private[this] val recordComparator = order.recordComparator
  private[this] val prefixDecides = order.prefixDecides

  var rows = 0L
  var outOfOrder = 0L
  private[this] var peak = 0L
  busy = false

  def keyCount: Long = map.numKeys.toLong

  def peakBytes: Long = math.max(peak, getUsed) + map.getPeakMemoryUsedBytes

  /** Every key, by its state. */
  def states: JavaIterator[BytesToBytesMap#Location] =
    map.iterator().asInstanceOf[JavaIterator[BytesToBytesMap#Location]]

  /** Takes a copy of a row; false, and nothing is changed, if there is no memory for it. */
  def add(row: UnsafeRow): Boolean = {
    busy = true
    try {
      val key = keys(row)
      map.safeLookup(
        key.getBaseObject,
        key.getBaseOffset,
        key.getSizeInBytes,
        location,
        key.hashCode()
      )
      val known = location.isDefined || appendKey(key)
      if (known) append(location.getValueBase, location.getValueOffset, row)
      known
    } catch { case _: SparkOutOfMemoryError => false }
    finally busy = false
  }

  private def appendKey(key: UnsafeRow): Boolean =
    location.append(
      key.getBaseObject,
      key.getBaseOffset,
      key.getSizeInBytes,
      initialState,
      Platform.BYTE_ARRAY_OFFSET.toLong,
      KeyState.Bytes
    )

  private def append(state: AnyRef, at: Long, row: UnsafeRow): Unit = {
    val size = row.getSizeInBytes
    val needed = HeaderBytes + size
    if (KeyState.used(state, at) + needed > KeyState.size(state, at)) addChunk(state, at, needed)
    val record = KeyState.tail(state, at) + KeyState.used(state, at)
    val base = manager.getPage(record)
    val offset = manager.getOffsetInPage(record)
    val prefix = prefixes.computePrefix(row)
    Platform.putLong(base, offset, prefix.value)
    UnsafeAlignedOffset.putSize(base, offset + HeaderBytes - UnsafeAlignedOffset.getUaoSize, size)
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      base,
      offset + HeaderBytes,
      size.toLong
    )
    if (prefix.isNull) KeyState.setNulls(state, at)
    if (KeyState.count(state, at) > 0) compareWithLast(state, at, prefix.value, base, offset)
    KeyState.added(state, at, record, needed, prefix.value)
    rows += 1
  }

  private def compareWithLast(
      state: AnyRef,
      at: Long,
      prefix: Long,
      base: AnyRef,
      offset: Long
  ): Unit = {
    val compared = prefixComparator.compare(KeyState.lastPrefix(state, at), prefix)
    if (compared > 0) {
      outOfOrder += 1
      KeyState.setUnsorted(state, at)
    } else if (
      compared == 0 && KeyState.isSorted(state, at) &&
      !(prefixDecides && !KeyState.hasNulls(state, at))
    ) {
      val last = KeyState.last(state, at)
      val lastBase = manager.getPage(last)
      val lastOffset = manager.getOffsetInPage(last) + HeaderBytes
      val whole = recordComparator.compare(
        lastBase,
        lastOffset,
        0, // an order needs no lengths
        base,
        offset + HeaderBytes,
        0
      )
      if (whole > 0) {
        outOfOrder += 1
        KeyState.setUnsorted(state, at)
      }
    }
  }

  /** A chunk starts with a link: the address of the one after it, and its own bytes in use. */
  private def addChunk(state: AnyRef, at: Long, needed: Int): Unit = {
    val doubled = math.min(2L * KeyState.size(state, at), LargestChunk.toLong)
    val size = math.max(math.max(doubled, SmallestChunk.toLong), LinkBytes + needed.toLong)
    if (page == null || pageUsed + size > page.size) {
      page = allocatePage(size)
      pages.add(page)
      pageUsed = 0L
      peak = math.max(peak, getUsed)
    }
    val chunk = manager.encodePageNumberAndOffset(page, page.getBaseOffset + pageUsed)
    pageUsed += (size + 7) / 8 * 8
    if (KeyState.count(state, at) == 0) {
      KeyState.setFirst(state, at, chunk)
    } else {
      val tail = KeyState.tail(state, at)
      val (base, offset) = (manager.getPage(tail), manager.getOffsetInPage(tail))
      Platform.putLong(base, offset, chunk)
      Platform.putLong(base, offset + 8, KeyState.used(state, at).toLong)
    }
    KeyState.setTail(state, at, chunk, LinkBytes, size.toInt)
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

  def close(): Unit = {
    freePages(null)
    map.free()
  }
}

private[spark] object KeyedRows {
  private val InitialKeys = 64
  private val SmallestChunk = 256
  private val LargestChunk = 64 * 1024

  /** Of a chunk. */
  val LinkBytes: Int = 16

  /** Of a record. */
  val HeaderBytes: Int = 16
}

/**
 * The rows of one key, in the order of their arrival. Moving on makes a record the current one.
 */
private[spark] final class KeyWalk(manager: TaskMemoryManager) {
  import KeyedRows._

  private[this] var chunk = 0L
  private[this] var tail = 0L
  private[this] var tailUsed = 0L
  private[this] var position = 0L
  private[this] var chunkUsed = 0L

  def start(state: AnyRef, at: Long): Unit = {
    tail = KeyState.tail(state, at)
    tailUsed = KeyState.used(state, at).toLong
    enter(KeyState.first(state, at))
  }

  /** Goes to the next record, of which there must be one, and answers its address. */
  def next(): Long = {
    if (position == chunkUsed) {
      enter(Platform.getLong(manager.getPage(chunk), manager.getOffsetInPage(chunk)))
    }
    val record = chunk + position
    position += HeaderBytes + (rowSize(record) + 7) / 8 * 8
    record
  }

  def prefix(record: Long): Long =
    Platform.getLong(manager.getPage(record), manager.getOffsetInPage(record))

  def pointTo(record: Long, row: UnsafeRow): Unit =
    row.pointTo(
      manager.getPage(record),
      manager.getOffsetInPage(record) + HeaderBytes,
      rowSize(record)
    )

  private def rowSize(record: Long): Int =
    UnsafeAlignedOffset.getSize(
      manager.getPage(record),
      manager.getOffsetInPage(record) + HeaderBytes - UnsafeAlignedOffset.getUaoSize
    )

  private def enter(entered: Long): Unit = {
    chunk = entered
    position = LinkBytes.toLong
    chunkUsed =
      if (chunk == tail) tailUsed
      else Platform.getLong(manager.getPage(chunk), manager.getOffsetInPage(chunk) + 8)
  }
}

/** What is known of a key: fields of a value in Spark's hash map, which lies at (base, at). */
private[spark] object KeyState {
  private val First = 0
  private val Tail = 8
  private val Used = 16
  private val Size = 20
  private val Last = 24
  private val LastPrefix = 32
  private val Count = 40
  private val Unsorted = 48
  private val Nulls = 52
  val Bytes: Int = 56

  /** Address of the first chunk. */
  def first(base: AnyRef, at: Long): Long = Platform.getLong(base, at + First)
  def setFirst(base: AnyRef, at: Long, chunk: Long): Unit =
    Platform.putLong(base, at + First, chunk)

  /** Address, bytes in use and size of the last chunk. */
  def tail(base: AnyRef, at: Long): Long = Platform.getLong(base, at + Tail)
  def used(base: AnyRef, at: Long): Int = Platform.getInt(base, at + Used)
  def size(base: AnyRef, at: Long): Int = Platform.getInt(base, at + Size)
  def setTail(base: AnyRef, at: Long, chunk: Long, used: Int, size: Int): Unit = {
    Platform.putLong(base, at + Tail, chunk)
    Platform.putInt(base, at + Used, used)
    Platform.putInt(base, at + Size, size)
  }

  /** Address and prefix of the last record. */
  def last(base: AnyRef, at: Long): Long = Platform.getLong(base, at + Last)
  def lastPrefix(base: AnyRef, at: Long): Long = Platform.getLong(base, at + LastPrefix)
  def count(base: AnyRef, at: Long): Long = Platform.getLong(base, at + Count)
  def added(base: AnyRef, at: Long, record: Long, bytes: Int, prefix: Long): Unit = {
    // records stay aligned
    Platform.putInt(base, at + Used, used(base, at) + (bytes + 7) / 8 * 8)
    Platform.putLong(base, at + Last, record)
    Platform.putLong(base, at + LastPrefix, prefix)
    Platform.putLong(base, at + Count, count(base, at) + 1)
  }

  /** Whether all rows came in order. */
  def isSorted(base: AnyRef, at: Long): Boolean = Platform.getInt(base, at + Unsorted) == 0
  def setUnsorted(base: AnyRef, at: Long): Unit = Platform.putInt(base, at + Unsorted, 1)

  /** Whether a row's first sort column is NULL. */
  def hasNulls(base: AnyRef, at: Long): Boolean = Platform.getInt(base, at + Nulls) != 0
  def setNulls(base: AnyRef, at: Long): Unit = Platform.putInt(base, at + Nulls, 1)
}
