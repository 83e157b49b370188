package io.sash.papers.algebra

import io.sash.core.slots.{Invertible, Partials, Selective}

/** A column that lifts a part of each input. */
private[algebra] class OnColumn[I, In, Out](column: Column[In, Out], part: I => In)
    extends Column[I, Out] {
  private def lifted: Partials = column
  override def total: Boolean = column.total
  override def identity(dst: Int): Unit = column.identity(dst)
  override def lift(slot: Int, in: I): Unit = column.lift(slot, part(in))
  override def combine(dst: Int, left: Int, right: Int): Unit = column.combine(dst, left, right)
  override def suffixes(first: Int, last: Int): Unit = column.suffixes(first, last)
  override def fold(dst: Int, slots: Array[Int], count: Int): Unit =
    column.fold(dst, slots, count)
  override def foldRange(dst: Int, first: Int, last: Int): Unit =
    column.foldRange(dst, first, last)
  override def lower(slot: Int): Out = column.lower(slot)
  override def copy(dst: Int, src: Int): Unit = column.copy(dst, src)
  override def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    column.copyFrom(other.asInstanceOf[OnColumn[_, _, _]].lifted, dst, src)
  override def move(dst: Int, src: Int, count: Int): Unit = column.move(dst, src, count)
  override def shrink(slots: Int): Unit = column.shrink(slots)

  override def grow(slots: Int): this.type = {
    column.grow(slots)
    this
  }
}

private[algebra] final class InvertibleOnColumn[I, In, Out](
    column: Column[In, Out] with Invertible,
    part: I => In
) extends OnColumn(column, part)
    with Invertible {
  override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
    column.subtract(dst, whole, oldest)
}

private[algebra] final class SelectiveOnColumn[I, In, Out](
    column: Column[In, Out] with Selective,
    part: I => In
) extends OnColumn(column, part)
    with Selective {
  override def selectsRight(left: Int, right: Int): Boolean = column.selectsRight(left, right)
}
