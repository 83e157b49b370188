package io.sash.spark.slots

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.slots.{PageStore, Pages, SlotCodec}

/** Slots of which a few pages are resident and the others in a store: see [[Pages]]. */
private[spark] final class PagedSlots(resident: SlotColumns, codec: SlotCodec, store: PageStore)
    extends SlotColumns {
  private[this] val pages = new Pages(resident, codec, store)
  private[this] var operationsBefore = 0L

  resident.resizeTo(Pages.Resident)

  override def operations: Long = operationsBefore + resident.operations

  /** Copies all slots of `other`, which keeps them, and goes on with its count. */
  def takeOver(other: SlotColumns): Unit = {
    operationsBefore = other.operations
    resizeTo(other.capacity)
    var slot = 0
    while (slot < other.capacity) {
      codec.read(resident, pages.written(slot), codec.write(other, slot))
      slot += 1
    }
  }

  override def page(): SlotColumns = this

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

  override def lower(slot: Int, out: InternalRow): Unit = resident.lower(pages.read(slot), out)

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

  override def save(slot: Int, out: InternalRow): Unit = resident.save(pages.read(slot), out)

  override def load(dst: Int, in: InternalRow): Unit = resident.load(pages.written(dst), in)
}
