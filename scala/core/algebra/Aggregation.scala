package io.sash.core.algebra

import io.sash.core.slots.{ChunkedPartials, Invertible, Selective}

/**
 * An aggregate operation, in three functions. `lift` turns a value into a partial aggregate.
 * `combine` turns the partials of two neighbouring parts of a window into the partial of both.
 * `lower` turns a partial into the answer.
 *
 * The one law: `combine` is associative and `identity` is its neutral element. It need not be
 * commutative: `older` always holds older elements than `younger`. For floating point the law
 * holds up to rounding. Further abilities of a combine are types. So an algorithm that needs one
 * accepts no other aggregation: [[InvertibleAggregation]], [[SelectiveAggregation]],
 * [[Commutative]].
 *
 * Partials are values: no function changes a partial that it was given.
 *
 * Papers: ''General Incremental Sliding-Window Aggregation'', section 3.1 and table 1; ''In-Order
 * Sliding-Window Aggregation in Worst-Case Constant Time'', section 2.2.
 *
 * @tparam In the values that enter a window
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

  /** A new column of these partials. If In and Out are primitive, the column should be, too. */
  def newColumn(): Column[In, Out] = new ObjectColumn(this)

  /**
   * A new column of these partials in chunks, for DABA and DABA Lite. It grows without copying.
   */
  final def newChunkedColumn(): ChunkedColumn[In, Out] = newChunkedColumn(ChunkedPartials.LogSize)

  private[algebra] final def newChunkedColumn(logSize: Int): ChunkedColumn[In, Out] =
    newColumn().inChunks(() => newColumn(), logSize)

  /** The answer over `values`, oldest first. Any window that holds them must give this answer. */
  final def aggregate(values: In*): Out =
    lower(values.iterator.map(lift).foldLeft(identity)(combine))
}

/**
 * An aggregation whose combine can be undone exactly, for all operands. No floating-point sum is
 * one: (1e17 + 1) - 1e17 is 0, and no subtraction turns a NaN back into a number.
 *
 * Paper: ''SlickDeque'', section 3.1. There, as in the Reactive Aggregator's section 3.2, the
 * younger operand is taken back. A window evicts the older operand. The two are the same for
 * commutative operations only.
 */
trait InvertibleAggregation[In, Agg, Out] extends Aggregation[In, Agg, Out] {

  /** whole ⊖ oldest: where whole = oldest ⊗ rest, the result is rest. */
  def subtract(whole: Agg, oldest: Agg): Agg

  override def newColumn(): Column[In, Out] with Invertible = new InvertibleObjectColumn(this)
}

/**
 * An aggregation whose combine returns an operand: x ⊗ y is x or y.
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
 * An aggregation with x ⊗ y = y ⊗ x. No algorithm of this library needs it; a plan that reorders
 * its input does.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 3.2 and table 2.
 */
trait Commutative { this: Aggregation[_, _, _] => }
