package io.sash.papers.algebra

import java.util.Arrays

import io.sash.core.slots.{Invertible, Partials, Selective}

/** A [[Distributive]] operation on ints. */
private[algebra] abstract class IntOperation(override val identity: Int)
    extends Distributive[Int]
    with MakesColumn[Int, Int]
    with Commutative {
  override def combine(older: Int, younger: Int): Int // of primitives: a call does not box

  override def newColumn(): Column[Int, Int] = new IntColumn(this)
}

/** An operation that returns one of its operands. */
private[algebra] abstract class SelectiveInts(identity: Int)
    extends IntOperation(identity)
    with SelectiveAggregation[Int, Int, Int] {
  override def combine(older: Int, younger: Int): Int
  override def selectsRight(older: Int, younger: Int): Boolean

  override def newColumn(): Column[Int, Int] with Selective =
    new IntColumn(this) with Selective {
      override def selectsRight(left: Int, right: Int): Boolean =
        SelectiveInts.this.selectsRight(cells(left), cells(right))
    }
}

/** An operation whose inverse is exact. */
private[algebra] abstract class InvertibleInts(identity: Int)
    extends IntOperation(identity)
    with InvertibleAggregation[Int, Int, Int] {
  override def subtract(whole: Int, oldest: Int): Int

  override def newColumn(): Column[Int, Int] with Invertible =
    new IntColumn(this) with Invertible {
      override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
        cells(dst) = InvertibleInts.this.subtract(cells(whole), cells(oldest))
    }
}

/** One int a partial. */
private[algebra] class IntColumn(operation: IntOperation) extends Column[Int, Int] {
  protected[this] final var cells = new Array[Int](0)

  override final def total: Boolean = true

  override final def identity(dst: Int): Unit = cells(dst) = operation.identity
  override final def lift(slot: Int, in: Int): Unit = cells(slot) = in
  override final def lower(slot: Int): Int = cells(slot)
  override final def copy(dst: Int, src: Int): Unit = cells(dst) = cells(src)

  private def all: Array[Int] = cells

  override final def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    cells(dst) = other.asInstanceOf[IntColumn].all(src)

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

  override final def move(dst: Int, src: Int, count: Int): Unit =
    System.arraycopy(cells, src, cells, dst, count)

  override final def shrink(slots: Int): Unit =
    if (slots < cells.length) cells = Arrays.copyOf(cells, slots)

  override final def grow(slots: Int): this.type = {
    if (slots > cells.length) cells = Arrays.copyOf(cells, slots)
    this
  }
}
