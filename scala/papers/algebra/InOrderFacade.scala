package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation
import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.{Invertible, Partials, Selective}

/**
 * Gives an algorithm the form `TwoStacksLite(Max[Double])`. Each class of this file asks the
 * operation for one ability. The companion object of an algorithm extends the class that asks for
 * the ability that the algorithm needs.
 */
abstract class OfAggregation[A <: InOrderWindow](make: Partials => A) {
  final def apply[In, Out](aggregation: Aggregation[In, _, Out]): Window[In, Out, A] = {
    val column = Column.of(aggregation)
    column.over(make(column))
  }
}

/** For an algorithm whose queue may be in chunks. */
abstract class OfAggregationInChunks[A <: InOrderWindow](make: Partials => A)
    extends OfAggregation(make) {

  /**
   * A window in chunks. Its memory grows and shrinks by 1024 partials, and no partial is copied
   * for that. So the time of each call is constant, growth included. On average a call takes
   * several times as long.
   */
  final def inChunks[In, Out](aggregation: Aggregation[In, _, Out]): Window[In, Out, A] = {
    val column = Column.inChunks(aggregation)
    column.over(make(column))
  }
}

/** For an algorithm that needs an inverse. */
abstract class OfInvertible[A <: InOrderWindow](make: (Partials with Invertible) => A) {
  final def apply[In, Out](aggregation: InvertibleAggregation[In, _, Out]): Window[In, Out, A] = {
    val column = aggregation.newColumn()
    column.over(make(column))
  }
}

/** For an algorithm whose combine must return an operand. */
abstract class OfSelective[A <: InOrderWindow](make: (Partials with Selective) => A) {
  final def apply[In, Out](aggregation: SelectiveAggregation[In, _, Out]): Window[In, Out, A] = {
    val column = aggregation.newColumn()
    column.over(make(column))
  }
}
