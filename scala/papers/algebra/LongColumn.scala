package io.sash.papers.algebra

import java.nio.ByteBuffer
import java.util.Arrays

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.{Bytes, Partials, Selective, SlotCodec, Slots}

// The build makes the columns of ints and of doubles from this source: it replaces the type's
// name.

/**
 * An operation whose partials and answer are numbers of its input's type: ''SlickDeque'' calls it
 * distributive in section 3.1.
 */
private[algebra] abstract class LongOperation(override val identity: Long)
    extends Aggregation[Long, Long, Long]
    with MakesColumn[Long, Long]
    with Commutative {
  override final def lift(in: Long): Long = in
  override final def lower(agg: Long): Long = agg
  override def combine(older: Long, younger: Long): Long // of primitives: a call does not box

  override def newColumn(): Column[Long, Long] = new LongColumn(this)
}

/** An operation that returns one of its operands. */
private[algebra] abstract class SelectiveLongs(identity: Long)
    extends LongOperation(identity)
    with SelectiveAggregation[Long, Long, Long] {
  override def combine(older: Long, younger: Long): Long
  override def selectsRight(older: Long, younger: Long): Boolean

  override def newColumn(): Column[Long, Long] with Selective =
    new LongColumn(this) with Selective {
      override def selectsRight(left: Int, right: Int): Boolean =
        SelectiveLongs.this.selectsRight(cells(left), cells(right))
    }
}

/** Partials of `width` numbers each. They are adjacent: one cache line holds a partial. */
private[algebra] abstract class LongCells(width: Int) extends Partials with SlotCodec {
  protected[this] final var cells = new Array[Long](0)

  override final def total: Boolean = true

  private def all: Array[Long] = cells

  override final def copyFrom(other: Partials, dst: Int, src: Int): Unit = {
    val from = other.asInstanceOf[LongCells].all
    var i = 0
    while (i < width) {
      cells(dst * width + i) = from(src * width + i)
      i += 1
    }
  }

  override final def move(dst: Int, src: Int, count: Int): Unit =
    System.arraycopy(cells, src * width, cells, dst * width, count * width)

  override final def write(slots: Slots, slot: Int, out: Bytes): Unit = {
    var i = slot * width
    while (i < (slot + 1) * width) {
      out.putLong(cells(i))
      i += 1
    }
  }

  override final def read(slots: Slots, slot: Int, in: ByteBuffer): Unit = {
    var i = slot * width
    while (i < (slot + 1) * width) {
      cells(i) = in.getLong()
      i += 1
    }
  }

  override final def shrink(slots: Int): Unit =
    if (slots < cells.length / width) cells = Arrays.copyOf(cells, slots * width)

  override final def grow(slots: Int): this.type = {
    val length = Cells.length(slots, width)
    if (length > cells.length) cells = Arrays.copyOf(cells, length)
    this
  }
}

/** Pairs of numbers: a partial is at 2 · slot. */
private[algebra] abstract class LongPairs extends LongCells(2) {
  override final def copy(dst: Int, src: Int): Unit = put(dst, cells(2 * src), cells(2 * src + 1))

  protected[this] final def put(slot: Int, first: Long, second: Long): Unit = {
    cells(2 * slot) = first
    cells(2 * slot + 1) = second
  }
}

/** Pairs of a sum and the count of its summands. */
private[algebra] abstract class LongSumAndCount extends LongPairs {
  override final def identity(dst: Int): Unit = put(dst, 0, 0)

  override final def combine(dst: Int, left: Int, right: Int): Unit = put(
    dst,
    cells(2 * left) + cells(2 * right),
    cells(2 * left + 1) + cells(2 * right + 1)
  )
}

/** One number a partial. */
private[algebra] abstract class LongOperands(operation: LongOperation) extends LongCells(1) {
  protected[this] final def put(slot: Int, value: Long): Unit = cells(slot) = value
  protected[this] final def get(slot: Int): Long = cells(slot)

  override final def identity(dst: Int): Unit = cells(dst) = operation.identity
  override final def copy(dst: Int, src: Int): Unit = cells(dst) = cells(src)

  override final def combine(dst: Int, left: Int, right: Int): Unit =
    cells(dst) = operation.combine(cells(left), cells(right))

  override final def suffixes(first: Int, last: Int): Unit = {
    var running = cells(last)
    var i = last - 1
    while (i >= first) {
      running = operation.combine(cells(i), running)
      cells(i) = running
      i -= 1
    }
  }

  override final def fold(dst: Int, slots: Array[Int], count: Int): Unit = {
    var running = cells(slots(0))
    var i = 1
    while (i < count) {
      running = operation.combine(running, cells(slots(i)))
      i += 1
    }
    cells(dst) = running
  }

  override final def foldRange(dst: Int, first: Int, last: Int): Unit = {
    var running = cells(dst)
    var i = first
    while (i <= last) {
      running = operation.combine(running, cells(i))
      i += 1
    }
    cells(dst) = running
  }
}

/** The column of an operation on numbers. */
private[algebra] class LongColumn(operation: LongOperation)
    extends LongOperands(operation)
    with Column[Long, Long] {
  override final def lift(slot: Int, in: Long): Unit = put(slot, in)
  override final def lower(slot: Int): Long = get(slot)
}
