package io.sash.core.algebra

/**
 * An aggregate operation, in three functions. `lift` turns a value into a partial aggregate.
 * `combine` turns the partials of two neighbouring parts of a window into the partial of both.
 * `lower` turns a partial into the answer.
 *
 * The one law: `combine` is associative and `identity` is its neutral element. It need not be
 * commutative: `older` always holds older elements than `younger`. For floating point the law
 * holds up to rounding.
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

  /** The answer over `values`, oldest first. Any window that holds them must give this answer. */
  final def aggregate(values: In*): Out =
    lower(values.iterator.map(lift).foldLeft(identity)(combine))
}
