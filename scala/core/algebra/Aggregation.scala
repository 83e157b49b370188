package io.sash.core.algebra

import io.sash.core.slots.{ChunkedPartials, Invertible, Selective}

/**
 * An aggregate operation, in three functions: `lift` makes a value a partial aggregate,
 * `combine` makes the partials of two neighbouring parts of a window that of both, `lower` makes
 * a partial the answer.
 *
 * The one law: `combine` is associative and `identity` is its neutral element. It need not be
 * commutative: `older` always holds older elements than `younger`. For floating point the law
 * holds up to rounding. What more a combine can do is a type, so that an algorithm that needs it
 * refuses all others: [[InvertibleAggregation]], [[SelectiveAggregation]], [[Commutative]].
 *
 * Partials are values: no function changes one that it was given.
 *
 * Papers: ''General Incremental Sliding-Window Aggregation'', section 3.1 and table 1;
 * ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', section 2.2.
 *
 * @tparam In what enters a window
 * @tparam Agg the partial aggregates
 * @tparam Out the answer
 */
trait Aggregation[In, Agg, Out] extends Serializable {

  /** 1, the aggregate of no elements. */
  def identity: Agg

  def lift(in: In): Agg

  /** older ⊗ younger */
  def combine(older: Agg, younger: Agg): Agg

  def lower(agg: Agg): Out

  /** A new column of these partials. Where In and Out are primitive, the column should be, too. */
  def newColumn(): Column[In, Out] = new ObjectColumn(this)

  /** A new column of these partials in chunks, which grows without copying; for DABA (Lite). */
  final def newChunkedColumn(): ChunkedColumn[In, Out] = newChunkedColumn(ChunkedPartials.LogSize)

  private[algebra] final def newChunkedColumn(logSize: Int): ChunkedColumn[In, Out] =
    newColumn().inChunks(() => newColumn(), logSize)

  /** The answer over `values`, oldest first: what any window that holds them must say. */
  final def aggregate(values: In*): Out =
    lower(values.iterator.map(lift).foldLeft(identity)(combine))
}

/**
 * An aggregation whose combine can be undone exactly, whatever the operands. No floating-point
 * sum is one: (1e17 + 1) - 1e17 is 0, and nothing brings a number back from a NaN.
 *
 * Paper: ''SlickDeque'', section 3.1. There, as in the Reactive Aggregator's section 3.2, the
 * operand that is taken back is the younger one; a window evicts the older, which is the same
 * for commutative operations only.
 */
trait InvertibleAggregation[In, Agg, Out] extends Aggregation[In, Agg, Out] {

  /** whole ⊖ oldest, where whole = oldest ⊗ rest; leaves rest. */
  def subtract(whole: Agg, oldest: Agg): Agg

  override def newColumn(): Column[In, Out] with Invertible = new InvertibleObjectColumn(this)
}

/**
 * An aggregation whose combine picks an operand: x ⊗ y is x or y.
 *
 * Paper: ''SlickDeque'', section 3.1, the note on non-invertible operations.
 */
trait SelectiveAggregation[In, Agg, Out] extends Aggregation[In, Agg, Out] {

  /** Whether older ⊗ younger = younger. */
  def selectsRight(older: Agg, younger: Agg): Boolean

  override def combine(older: Agg, younger: Agg): Agg =
    if (selectsRight(older, younger)) younger else older

  override def newColumn(): Column[In, Out] with Selective = new SelectiveObjectColumn(this)
}

/**
 * An aggregation of which x ⊗ y = y ⊗ x. No algorithm of this library needs it; a plan that
 * reorders its input does.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 3.2 and table 2.
 */
trait Commutative { this: Aggregation[_, _, _] => }
