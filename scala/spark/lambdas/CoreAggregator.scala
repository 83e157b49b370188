package io.sash.spark.lambdas

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.expressions.Aggregator

import io.sash.core.algebra.Aggregation

/**
 * Runs an operation of the papers' library, or your own implementation of its trait, as Spark's
 * typed `Aggregator`:
 * {{{
 * dataset.select(CoreAggregator(GeometricMean).toColumn)
 * spark.udf.register("widest_step", functions.udaf(CoreAggregator(WidestStep)))
 * }}}
 * Over no rows it returns the lowered identity. Every row is lifted. A NULL is lifted as the
 * operation's input type represents it; `udaf` skips rows whose input is NULL if that type is
 * primitive. Spark chooses the order in which it merges partials, so the answer of an operation
 * that is not commutative depends on that order, as with Spark's `first`.
 *
 * Cost: one lift and one combine per row, plus the encoding of partials, which are opaque objects
 * to Spark, between tasks. If speed matters, write the operation in lambdas (`monoid_agg`).
 *
 * Part of the API.
 *
 * @param bufferEncoder how partials are encoded between tasks; Kryo by default
 */
final class CoreAggregator[In, Agg, Out](
    operation: Aggregation[In, Agg, Out],
    override val bufferEncoder: Encoder[Agg],
    override val outputEncoder: Encoder[Out]
) extends Aggregator[In, Agg, Out] {
  override def zero: Agg = operation.identity

  override def reduce(older: Agg, in: In): Agg = operation.combine(older, operation.lift(in))

  override def merge(older: Agg, younger: Agg): Agg = operation.combine(older, younger)

  override def finish(agg: Agg): Out = operation.lower(agg)
}

object CoreAggregator {

  /** An encoder for partials of any class, boxed primitives included. */
  private def byKryo: Encoder[AnyRef] = Encoders.kryo[AnyRef]

  def apply[In, Agg, Out](operation: Aggregation[In, Agg, Out])(implicit
      outputEncoder: Encoder[Out]
  ): CoreAggregator[In, Agg, Out] =
    new CoreAggregator(operation, byKryo.asInstanceOf[Encoder[Agg]], outputEncoder)
}
