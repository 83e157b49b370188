package io.sash.papers.algebra

import java.nio.ByteBuffer
import java.util.Arrays

import io.sash.core.slots.{Bytes, Partials, SlotCodec, Slots}

private[algebra] object Cells {

  /**
   * The number of cells for `slots` slots of `width` cells. Throws if no array can be so long.
   */
  def length(slots: Int, width: Int): Int = {
    val cells = slots.toLong * width
    if (cells > Int.MaxValue - 8) {
      throw new IllegalStateException(
        s"a column of $width numbers a partial aggregate has no room for $slots of them"
      )
    }
    cells.toInt
  }
}

/**
 * Partials of many longs, each in an array of its own. The JVM vectorizes a loop over several
 * arrays, but not a loop over several parts of one array.
 */
private[algebra] abstract class LongRows(width: Int) extends Partials with SlotCodec {
  protected[this] final var rows = new Array[Array[Long]](0)

  override final def total: Boolean = true

  override final def identity(dst: Int): Unit = Arrays.fill(rows(dst), 0L)

  override final def copy(dst: Int, src: Int): Unit =
    System.arraycopy(rows(src), 0, rows(dst), 0, width)

  /** `dst <- left + sign · right`, number by number. */
  protected[this] final def add(dst: Int, left: Int, sign: Long, right: Int): Unit = {
    val sums = rows(dst)
    val lefts = rows(left)
    val rights = rows(right)
    var i = 0
    while (i < width) {
      sums(i) = lefts(i) + sign * rights(i)
      i += 1
    }
  }

  private def all: Array[Array[Long]] = rows

  override final def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    System.arraycopy(other.asInstanceOf[LongRows].all(src), 0, rows(dst), 0, width)

  override final def write(slots: Slots, slot: Int, out: Bytes): Unit =
    rows(slot).foreach(out.putLong)

  override final def read(slots: Slots, slot: Int, in: ByteBuffer): Unit =
    rows(slot).indices.foreach(i => rows(slot)(i) = in.getLong())

  override final def shrink(slots: Int): Unit =
    if (slots < rows.length) rows = Arrays.copyOf(rows, slots)

  override final def grow(slots: Int): this.type = {
    val length = rows.length
    if (slots > length) {
      rows = Arrays.copyOf(rows, slots)
      var slot = length
      while (slot < slots) {
        rows(slot) = new Array[Long](width)
        slot += 1
      }
    }
    this
  }
}
