package io.sash.core.algebra

import io.sash.core.{Invertible, Selective}

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

  override def lower(slot: Int): Out = finish(first.lower(slot), second.lower(slot))

  override def copy(dst: Int, src: Int): Unit = {
    first.copy(dst, src)
    second.copy(dst, src)
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

/** A column that lifts a part of what it is given. */
private[algebra] class OnColumn[I, In, Out](column: Column[In, Out], part: I => In)
    extends Column[I, Out] {
  override def identity(dst: Int): Unit = column.identity(dst)
  override def lift(slot: Int, in: I): Unit = column.lift(slot, part(in))
  override def combine(dst: Int, left: Int, right: Int): Unit = column.combine(dst, left, right)
  override def lower(slot: Int): Out = column.lower(slot)
  override def copy(dst: Int, src: Int): Unit = column.copy(dst, src)

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
