package io.sash.papers.algebra

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Invertible, Partials, Slots}

/**
 * Two columns under the same slot numbers. If one column can throw, it combines first, so that a
 * failed combine has changed nothing. If both can, the first combines into a spare slot.
 */
private[algebra] class PairColumn[In, OutA, OutB, Out](
    first: Column[In, OutA],
    second: Column[In, OutB],
    finish: (OutA, OutB) => Out
) extends Column[In, Out] {
  protected[this] final val spared: Boolean = !first.total && !second.total
  private[this] val before: Partials = if (first.total) second else first
  private[this] val after: Partials = if (first.total) first else second
  protected[this] final var spare: Int = 0

  override final val total: Boolean = first.total && second.total

  override def identity(dst: Int): Unit = {
    first.identity(dst)
    second.identity(dst)
  }

  override def lift(slot: Int, in: In): Unit = {
    first.lift(slot, in)
    second.lift(slot, in)
  }

  override def combine(dst: Int, left: Int, right: Int): Unit =
    if (spared) {
      first.combine(spare, left, right)
      second.combine(dst, left, right)
      first.copy(dst, spare)
    } else {
      before.combine(dst, left, right)
      after.combine(dst, left, right)
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

  private def partA: Partials = first
  private def partB: Partials = second

  override def copyFrom(other: Partials, dst: Int, src: Int): Unit = {
    val from = other.asInstanceOf[PairColumn[_, _, _, _]]
    first.copyFrom(from.partA, dst, src)
    second.copyFrom(from.partB, dst, src)
  }

  override def move(dst: Int, src: Int, count: Int): Unit = {
    first.move(dst, src, count)
    second.move(dst, src, count)
  }

  override def write(slots: Slots, slot: Int, out: Bytes): Unit = {
    first.write(first, slot, out)
    second.write(second, slot, out)
  }

  override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit = {
    first.read(first, slot, in)
    second.read(second, slot, in)
  }

  override def shrink(slots: Int): Unit = {
    spare = math.min(spare, slots)
    first.shrink(if (spared) slots + 1 else slots)
    second.shrink(slots)
  }

  override def grow(slots: Int): this.type = {
    first.grow(if (spared) slots + 1 else slots)
    second.grow(slots)
    spare = math.max(spare, slots)
    this
  }
}

private[algebra] final class InvertiblePairColumn[In, OutA, OutB, Out](
    first: Column[In, OutA] with Invertible,
    second: Column[In, OutB] with Invertible,
    finish: (OutA, OutB) => Out
) extends PairColumn(first, second, finish)
    with Invertible {
  override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
    if (spared) {
      first.subtract(spare, whole, oldest)
      second.subtract(dst, whole, oldest)
      first.copy(dst, spare)
    } else if (first.total) {
      second.subtract(dst, whole, oldest)
      first.subtract(dst, whole, oldest)
    } else {
      first.subtract(dst, whole, oldest)
      second.subtract(dst, whole, oldest)
    }
}
