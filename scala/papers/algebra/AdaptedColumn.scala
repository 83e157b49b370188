package io.sash.papers.algebra

import java.nio.ByteBuffer

import io.sash.core.algebra.Adapted
import io.sash.core.slots.{Bytes, Invertible, Partials, Selective, Slots}

private[algebra] class InvertibleAdapted[I, In, Agg, Out, B](
    inner: InvertibleAggregation[In, Agg, Out],
    part: I => In,
    finish: Out => B
) extends Adapted(inner, part, finish)
    with InvertibleAggregation[I, Agg, B] {
  override def subtract(whole: Agg, oldest: Agg): Agg = inner.subtract(whole, oldest)

  override def newColumn(): Column[I, B] with Invertible = {
    val column = inner.newColumn()
    new AdaptedColumn(column, part, finish) with Invertible {
      override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
        column.subtract(dst, whole, oldest)
    }
  }
}

private final class SelectiveAdapted[I, In, Agg, Out, B](
    inner: SelectiveAggregation[In, Agg, Out],
    part: I => In,
    finish: Out => B
) extends Adapted(inner, part, finish)
    with SelectiveAggregation[I, Agg, B] {
  override def combine(older: Agg, younger: Agg): Agg = inner.combine(older, younger)

  override def selectsRight(older: Agg, younger: Agg): Boolean =
    inner.selectsRight(older, younger)

  override def newColumn(): Column[I, B] with Selective = {
    val column = inner.newColumn()
    new AdaptedColumn(column, part, finish) with Selective {
      override def selectsRight(left: Int, right: Int): Boolean = column.selectsRight(left, right)
    }
  }
}

/** `column` over a `part` of each input, with `finish` applied to its answers. */
private class AdaptedColumn[I, In, Out, B](
    column: Column[In, Out],
    part: I => In,
    finish: Out => B
) extends Column[I, B] {
  private def inner: Column[In, Out] = column
  override def total: Boolean = column.total
  override def identity(dst: Int): Unit = column.identity(dst)
  override def lift(slot: Int, in: I): Unit = column.lift(slot, part(in))
  override def combine(dst: Int, left: Int, right: Int): Unit = column.combine(dst, left, right)
  override def suffixes(first: Int, last: Int): Unit = column.suffixes(first, last)
  override def fold(dst: Int, slots: Array[Int], count: Int): Unit =
    column.fold(dst, slots, count)
  override def foldRange(dst: Int, first: Int, last: Int): Unit =
    column.foldRange(dst, first, last)
  override def lower(slot: Int): B = finish(column.lower(slot))
  override def copy(dst: Int, src: Int): Unit = column.copy(dst, src)
  override def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    column.copyFrom(other.asInstanceOf[AdaptedColumn[_, _, _, _]].inner, dst, src)
  override def move(dst: Int, src: Int, count: Int): Unit = column.move(dst, src, count)
  override def write(slots: Slots, slot: Int, out: Bytes): Unit = column.write(column, slot, out)
  override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit =
    column.read(column, slot, in)
  override def shrink(slots: Int): Unit = column.shrink(slots)

  override def grow(slots: Int): this.type = {
    column.grow(slots)
    this
  }
}
