package io.sash.papers.algebra

import java.util.Arrays

import io.sash.core.slots.Partials

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

/** Partials of `width` longs each. They are adjacent, so that one cache line holds a partial. */
private[algebra] abstract class LongCells(width: Int) extends Partials {
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

  override final def shrink(slots: Int): Unit =
    if (slots < cells.length / width) cells = Arrays.copyOf(cells, slots * width)

  override final def grow(slots: Int): this.type = {
    val length = Cells.length(slots, width)
    if (length > cells.length) cells = Arrays.copyOf(cells, length)
    this
  }
}

/** Partials of `width` doubles each, adjacent. A count is exact in a double up to 2^53. */
private[algebra] abstract class DoubleCells(width: Int) extends Partials {
  protected[this] final var cells = new Array[Double](0)

  override final def total: Boolean = true

  private def all: Array[Double] = cells

  override final def copyFrom(other: Partials, dst: Int, src: Int): Unit = {
    val from = other.asInstanceOf[DoubleCells].all
    var i = 0
    while (i < width) {
      cells(dst * width + i) = from(src * width + i)
      i += 1
    }
  }

  override final def move(dst: Int, src: Int, count: Int): Unit =
    System.arraycopy(cells, src * width, cells, dst * width, count * width)

  override final def shrink(slots: Int): Unit =
    if (slots < cells.length / width) cells = Arrays.copyOf(cells, slots * width)

  override final def grow(slots: Int): this.type = {
    val length = Cells.length(slots, width)
    if (length > cells.length) cells = Arrays.copyOf(cells, length)
    this
  }
}

/** Pairs of longs: a partial is at 2 · slot. */
private[algebra] abstract class LongPairs extends LongCells(2) {
  override final def copy(dst: Int, src: Int): Unit = put(dst, cells(2 * src), cells(2 * src + 1))

  protected[this] final def put(slot: Int, first: Long, second: Long): Unit = {
    cells(2 * slot) = first
    cells(2 * slot + 1) = second
  }
}

/** Pairs of doubles: a partial is at 2 · slot. */
private[algebra] abstract class DoublePairs extends DoubleCells(2) {
  override final def copy(dst: Int, src: Int): Unit = put(dst, cells(2 * src), cells(2 * src + 1))

  protected[this] final def put(slot: Int, first: Double, second: Double): Unit = {
    cells(2 * slot) = first
    cells(2 * slot + 1) = second
  }
}

/** Triples of doubles: a partial is at 3 · slot. */
private[algebra] abstract class DoubleTriples extends DoubleCells(3) {
  override final def copy(dst: Int, src: Int): Unit =
    put(dst, cells(3 * src), cells(3 * src + 1), cells(3 * src + 2))

  protected[this] final def put(slot: Int, a: Double, b: Double, c: Double): Unit = {
    cells(3 * slot) = a
    cells(3 * slot + 1) = b
    cells(3 * slot + 2) = c
  }
}

/**
 * Partials of many longs, each in an array of its own. The JVM makes vector instructions of a
 * loop over several arrays, but not of a loop over several parts of one array.
 */
private[algebra] abstract class LongRows(width: Int) extends Partials {
  protected[this] final var rows = new Array[Array[Long]](0)

  override final def total: Boolean = true

  override final def identity(dst: Int): Unit = Arrays.fill(rows(dst), 0L)

  override final def copy(dst: Int, src: Int): Unit =
    System.arraycopy(rows(src), 0, rows(dst), 0, width)

  private def all: Array[Array[Long]] = rows

  override final def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    System.arraycopy(other.asInstanceOf[LongRows].all(src), 0, rows(dst), 0, width)

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
