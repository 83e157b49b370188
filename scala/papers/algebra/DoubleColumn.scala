package io.sash.papers.algebra

import io.sash.core.slots.Selective

/** A [[Distributive]] operation on doubles. */
private[algebra] abstract class DoubleOperation(override val identity: Double)
    extends Distributive[Double]
    with MakesColumn[Double, Double]
    with Commutative {
  override def combine(
      older: Double,
      younger: Double
  ): Double // of primitives: a call does not box

  override def newColumn(): Column[Double, Double] = new DoubleColumn(this)
}

/** An operation that returns one of its operands. */
private[algebra] abstract class SelectiveDoubles(identity: Double)
    extends DoubleOperation(identity)
    with SelectiveAggregation[Double, Double, Double] {
  override def combine(older: Double, younger: Double): Double
  override def selectsRight(older: Double, younger: Double): Boolean

  override def newColumn(): Column[Double, Double] with Selective =
    new DoubleColumn(this) with Selective {
      override def selectsRight(left: Int, right: Int): Boolean =
        SelectiveDoubles.this.selectsRight(cells(left), cells(right))
    }
}

/** One double a partial. */
private[algebra] class DoubleColumn(operation: DoubleOperation)
    extends DoubleCells(1)
    with Column[Double, Double] {
  override final def identity(dst: Int): Unit = cells(dst) = operation.identity
  override final def lift(slot: Int, in: Double): Unit = cells(slot) = in
  override final def lower(slot: Int): Double = cells(slot)
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
