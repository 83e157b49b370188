package io.sash.papers.algebra

import io.sash.core.slots.Invertible

/**
 * The number of elements.
 *
 * Types: T, Long, Long. Identity: 0. Associative, invertible, commutative. Cost: one addition.
 * Every element counts, a null and a NaN too.
 * {{{
 * Count[String].aggregate("a", "b", "a") == 3L
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
final class Count[@specialized(Int, Long, Double) T]
    extends InvertibleAggregation[T, Long, Long]
    with Commutative {
  override def identity: Long = 0L
  override def lift(in: T): Long = 1L
  override def combine(older: Long, younger: Long): Long = older + younger
  override def subtract(whole: Long, oldest: Long): Long = whole - oldest
  override def lower(agg: Long): Long = agg
  override def newColumn(): Column[T, Long] with Invertible = new CountColumn[T]
}

object Count {
  def apply[@specialized(Int, Long, Double) T]: Count[T] = new Count[T]
}

private final class CountColumn[@specialized(Int, Long, Double) T]
    extends Counts
    with Column[T, Long] {
  override def lift(slot: Int, in: T): Unit = put(slot, 1L)
  override def lower(slot: Int): Long = get(slot)
}

private abstract class Counts extends LongOperands(Sum.OfLong) with Invertible {
  override final def subtract(dst: Int, whole: Int, oldest: Int): Unit =
    cells(dst) = cells(whole) - cells(oldest)
}
