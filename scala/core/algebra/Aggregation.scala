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

  /**
   * The same aggregation of a part of each input: of a field of a record, or of a function of a
   * number. It keeps the laws, the identity and the cost. A primitive part is boxed on its way.
   * {{{
   * Max[Int].on((name: String) => name.length).aggregate("sash", "window") == 6
   * }}}
   * Paper: ''Constant-Time Sliding Window Framework'', section 5.8 (dimensions of the data).
   */
  def on[I](part: I => In): Aggregation[I, Agg, Out] = new Adapted(this, part, (out: Out) => out)

  /**
   * The same aggregation, with `finish` applied to its answer. It keeps the laws, the identity
   * and the cost; `finish` is called once a query. A primitive answer is boxed.
   * {{{
   * Max[Double].map(celsius => celsius * 1.8 + 32.0).aggregate(15.0, 20.0) == 68.0
   * }}}
   * Paper: ''General Incremental Sliding-Window Aggregation'', section 3.1 (lower).
   */
  def map[B](finish: Out => B): Aggregation[In, Agg, B] =
    new Adapted(this, (in: In) => in, finish)

  /** The answer over `values`, oldest first. Any window that holds them must give this answer. */
  final def aggregate(values: In*): Out =
    lower(values.iterator.map(lift).foldLeft(identity)(combine))
}
