package io.sash.spark.slots

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.slots.{Bytes, Pages}
import io.sash.spark.memory.WindowMemory

/**
 * Slots in pages. A few pages are in memory, and the others in a file: see [[Pages]]. The larger
 * the values, the fewer slots a page has. If the values grow further, `page` moves all slots to
 * smaller pages.
 */
private[spark] final class PagedSlots private (
    resident: SlotColumns,
    private[spark] override val codec: RowCodec,
    memory: WindowMemory,
    pageSize: Int
) extends SlotColumns {
  import PagedSlots._

  private[this] val pages = new Pages(resident, codec, new SpilledPages(memory), pageSize)
  private[this] var operationsBefore = 0L
  private[this] var answersGranted = 0L
  private[this] var answersBeyond = 0L // bytes refused at the last request

  resident.resizeTo(pages.resident)

  override def operations: Long = operationsBefore + resident.operations

  /**
   * Copies all slots of `other`, and continues its count of operations. `other` keeps its slots.
   */
  private def takeOver(other: SlotColumns): Unit = {
    operationsBefore = other.operations
    resizeTo(other.capacity)
    val value = new Bytes
    var slot = 0
    while (slot < other.capacity) {
      codec.write(other, slot, value.clear())
      codec.read(resident, pages.written(slot), ByteBuffer.wrap(value.toArray))
      slot += 1
    }
  }

  override def fits(): Boolean = {
    accountAnswers()
    pageSize == 1 || resident.valueBytes <= 2 * ResidentBytes
  }

  /**
   * Accounts for the running answers, which cannot leave memory. If the task gets no more memory,
   * they grow beyond their account, like the buffers of Spark's own aggregates. If they grow far
   * beyond it, `heldBeyond` fails the task. After a refusal the task asks again when they have
   * grown by another step.
   */
  private def accountAnswers(): Unit = {
    val more = answerBytes - answersGranted
    if (more > answersBeyond + AnswerStep) {
      if (memory.tryAcquire(more)) {
        answersGranted += more
        answersBeyond = 0L
      } else {
        memory.heldBeyond(more)
        answersBeyond = more
      }
    } else if (more < -AnswerStep) {
      memory.release(-more)
      answersGranted += more
      answersBeyond = 0L
    }
  }

  override def page(): SlotColumns =
    if (fits()) this
    else {
      memory.release(answersGranted)
      of(this, resident.fresh(), memory, resident.valueBytes / pages.resident)
    }

  override def grow(wanted: Int): SlotColumns = {
    if (wanted > capacity) resizeTo(wanted)
    this
  }

  override protected[spark] def fresh(): SlotColumns = resident.fresh()

  override protected def resize(slots: Int): Unit = pages.grow(slots)

  override def identity(dst: Int): Unit = resident.identity(pages.written(dst))

  override def lift(dst: Int, row: InternalRow): Unit = resident.lift(pages.written(dst), row)

  override def copy(dst: Int, src: Int): Unit = {
    val from = pages.read(src)
    resident.copy(pages.written(dst), from)
  }

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val l = pages.read(left)
    val r = pages.read(right)
    resident.combine(pages.written(dst), l, r)
  }

  override def subtract(dst: Int, whole: Int, oldest: Int): Unit = {
    val l = pages.read(whole)
    val r = pages.read(oldest)
    resident.subtract(pages.written(dst), l, r)
  }

  override def selectsRight(left: Int, right: Int): Boolean = {
    val l = pages.read(left)
    resident.selectsRight(l, pages.read(right))
  }

  override def answersFor(row: InternalRow): Unit = resident.answersFor(row)

  override def lower(range: Int, slot: Int, out: InternalRow): Unit =
    resident.lower(range, pages.read(slot), out)

  override def shift(which: Int, dst: Int, src: Int): Unit = {
    val from = pages.read(src)
    resident.shift(which, pages.written(dst), from)
  }

  override def compare(left: Int, right: Int): Int = {
    val l = pages.read(left)
    resident.compare(l, pages.read(right))
  }

  override def matches(slot: Int, row: InternalRow): Boolean =
    resident.matches(pages.read(slot), row)

  override def holds(slot: Int): Boolean = resident.holds(pages.read(slot))

  override def save(slot: Int, out: InternalRow): Unit = resident.save(pages.read(slot), out)

  override def load(dst: Int, in: InternalRow): Unit = resident.load(pages.written(dst), in)
}

private[spark] object PagedSlots {

  /** The approximate size of the resident pages. */
  private val ResidentBytes = 1L << 20

  private val AnswerStep = 64L * 1024

  /**
   * Moves `slots` into pages. `resident` holds the pages in memory; `bytes` is the size of a
   * slot.
   */
  def of(
      slots: SlotColumns,
      resident: SlotColumns,
      memory: WindowMemory,
      bytes: Long
  ): PagedSlots = {
    val paged = new PagedSlots(resident, slots.codec, memory, Pages.sizeFor(bytes, ResidentBytes))
    Seq(resident, paged).foreach(_.answeredBy(slots.answers))
    paged.takeOver(slots)
    paged
  }
}
