package io.sash.papers.algebra

import io.sash.core.slots.{Invertible, Selective}

/** A [[Distributive]] operation on longs. */
private[algebra] abstract class LongOperation(override val identity: Long)
    extends Distributive[Long]
    with MakesColumn[Long, Long]
    with Commutative {
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

/** An operation whose inverse is exact. */
private[algebra] abstract class InvertibleLongs(identity: Long)
    extends LongOperation(identity)
    with InvertibleAggregation[Long, Long, Long] {
  override def subtract(whole: Long, oldest: Long): Long

  override def newColumn(): Column[Long, Long] with Invertible =
    new LongColumn(this) with Invertible {
      override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
        cells(dst) = InvertibleLongs.this.subtract(cells(whole), cells(oldest))
    }
}

/** One long a partial. */
private[algebra] class LongColumn(operation: LongOperation)
    extends LongCells(1)
    with Column[Long, Long] {
  override final def identity(dst: Int): Unit = cells(dst) = operation.identity
  override final def lift(slot: Int, in: Long): Unit = cells(slot) = in
  override final def lower(slot: Int): Long = cells(slot)
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
