package io.sash.core.algebra

import io.sash.core.slots.Invertible

/** Two columns under one slot number. */
private[algebra] class PairColumn[In, OutA, OutB, Out](
    first: Column[In, OutA],
    second: Column[In, OutB],
    finish: (OutA, OutB) => Out
) extends Column[In, Out] {
  override def identity(dst: Int): Unit = {
    first.identity(dst)
    second.identity(dst)
  }

  override def lift(slot: Int, in: In): Unit = {
    first.lift(slot, in)
    second.lift(slot, in)
  }

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    first.combine(dst, left, right)
    second.combine(dst, left, right)
  }

  override def suffixes(first: Int, last: Int): Unit = {
    this.first.suffixes(first, last)
    second.suffixes(first, last)
  }

  override def fold(dst: Int, slots: Array[Int], count: Int): Unit = {
    first.fold(dst, slots, count)
    second.fold(dst, slots, count)
  }

  override def foldRange(dst: Int, first: Int, last: Int): Unit = {
    this.first.foldRange(dst, first, last)
    second.foldRange(dst, first, last)
  }

  override def lower(slot: Int): Out = finish(first.lower(slot), second.lower(slot))

  override def copy(dst: Int, src: Int): Unit = {
    first.copy(dst, src)
    second.copy(dst, src)
  }

  override def move(dst: Int, src: Int, count: Int): Unit = {
    first.move(dst, src, count)
    second.move(dst, src, count)
  }

  override def shrink(slots: Int): Unit = {
    first.shrink(slots)
    second.shrink(slots)
  }

  override def grow(slots: Int): this.type = {
    first.grow(slots)
    second.grow(slots)
    this
  }
}

private[algebra] final class InvertiblePairColumn[In, OutA, OutB, Out](
    first: Column[In, OutA] with Invertible,
    second: Column[In, OutB] with Invertible,
    finish: (OutA, OutB) => Out
) extends PairColumn(first, second, finish)
    with Invertible {
  override def subtract(dst: Int, whole: Int, oldest: Int): Unit = {
    first.subtract(dst, whole, oldest)
    second.subtract(dst, whole, oldest)
  }
}
