package io.sash.spark.ordering

import java.util.{ArrayList, List => JavaList}

import org.apache.spark.memory.{MemoryConsumer, TaskMemoryManager}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock

import io.sash.spark.memory.Spillable

/**
 * The pages with the rows, as a consumer of the task's memory. While rows arrive, the pages are
 * not spilled for other consumers. If memory runs out then, [[OrderTask]] hands the rows to
 * Spark's sorter.
 */
private[spark] final class RowPages(manager: TaskMemoryManager)
    extends MemoryConsumer(
      manager,
      math.min(RowPages.SmallestPage, manager.pageSizeBytes),
      manager.getTungstenMemoryMode
    ) {
  private[this] var pages = new ArrayList[MemoryBlock]()
  private[this] var page: MemoryBlock = _
  private[this] var pageUsed = 0L
  private[this] var peak = 0L

  /** The rows that go out; null while rows arrive, and after the last row has gone out. */
  @volatile var outgoing: Spillable = _

  def peakBytes: Long = math.max(peak, getUsed)

  /** Allocates `bytes` in a page and returns their address. */
  def allocate(bytes: Int): Long = {
    if (page == null || pageUsed + bytes > page.size) {
      // as large as all pages so far, so that pages have at most about twice the bytes of the
      // rows
      page = allocatePage(math.max(bytes.toLong, math.min(getUsed, manager.pageSizeBytes)))
      pages.add(page)
      pageUsed = 0L
    }
    val start = manager.encodePageNumberAndOffset(page, page.getBaseOffset + pageUsed)
    pageUsed += bytes
    start
  }

  override def spill(size: Long, trigger: MemoryConsumer): Long = {
    val leaving = outgoing
    if (leaving == null) 0L else leaving.spill()
  }

  /**
   * Hands over all pages but the page of `used`. The caller frees them after its turn has ended.
   */
  def take(used: UnsafeRow): JavaList[MemoryBlock] = synchronized {
    peak = peakBytes
    val taken = pages
    pages = new ArrayList[MemoryBlock]()
    page = null
    if (used != null) {
      taken.removeIf { page =>
        val isUsed = RowPages.holds(page, used.getBaseObject, used.getBaseOffset)
        isUsed && pages.add(page)
      }
    }
    taken
  }

  /** Frees pages or arrays; returns the number of their bytes. */
  def free(taken: JavaList[MemoryBlock]): Long = {
    var bytes = 0L
    taken.forEach { block =>
      bytes += block.size
      freePage(block)
    }
    bytes
  }

  override def freeArray(array: LongArray): Unit = {
    peak = peakBytes
    super.freeArray(array)
  }

  /** Closes the outgoing rows and frees all pages. */
  def close(): Unit = {
    val leaving = outgoing
    outgoing = null
    if (leaving != null) leaving.close()
    free(take(null))
  }
}

private object RowPages {

  /** Spark pools freed pages of at least this size. */
  private val SmallestPage = 1L << 20

  /** Whether a page holds an object, or an address if `base` is null. */
  def holds(page: MemoryBlock, base: AnyRef, offset: Long): Boolean =
    if (base != null) page.getBaseObject eq base
    else page.getBaseOffset <= offset && offset < page.getBaseOffset + page.size
}
