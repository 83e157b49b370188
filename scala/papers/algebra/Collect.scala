package io.sash.papers.algebra

/**
 * All elements in arrival order: the free monoid.
 *
 * Types: T, Vector[T], Vector[T]. Identity: the empty vector. Associative, invertible; not
 * commutative. Cost: one concatenation of vectors. A null and a NaN are elements like any other.
 * {{{
 * Collect[Int].aggregate(3, 1, 4) == Vector(3, 1, 4)
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
final class Collect[T] private extends InvertibleAggregation[T, Vector[T], Vector[T]] {
  override def identity: Vector[T] = Vector.empty
  override def lift(in: T): Vector[T] = Vector(in)
  override def combine(older: Vector[T], younger: Vector[T]): Vector[T] = older ++ younger
  override def subtract(whole: Vector[T], oldest: Vector[T]): Vector[T] =
    whole.drop(oldest.length)
  override def lower(agg: Vector[T]): Vector[T] = agg
}

object Collect {
  def apply[T]: Collect[T] = new Collect[T]
}
