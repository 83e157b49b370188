package io.sash.core.stored

import java.nio.ByteBuffer
import java.util.Arrays

import io.sash.core.slots.{Bytes, Partials, SlotCodec, Slots}

/** Sums of longs in an array, as an operator might keep them. */
class LongSums extends Partials {
  private[this] var values = new Array[Long](0)

  def apply(slot: Int): Long = values(slot)

  def update(slot: Int, value: Long): Unit = values(slot) = value

  def capacity: Int = values.length

  override def identity(dst: Int): Unit = values(dst) = 0L

  override def combine(dst: Int, left: Int, right: Int): Unit =
    values(dst) = values(left) + values(right)

  override def copy(dst: Int, src: Int): Unit = values(dst) = values(src)

  override def grow(slots: Int): Partials = {
    if (slots > values.length) values = Arrays.copyOf(values, slots)
    this
  }
}

object LongSums {
  object Codec extends SlotCodec {
    override def write(column: Slots, slot: Int, out: Bytes): Unit =
      out.putLong(sums(column)(slot))

    override def read(column: Slots, slot: Int, in: ByteBuffer): Unit =
      sums(column)(slot) = in.getLong()

    private def sums(column: Slots): LongSums = column.asInstanceOf[LongSums]
  }

  /** The sum of `count` numbers from `first` on. */
  def expected(first: Long, count: Int): Long = count * first + count * (count - 1L) / 2
}
