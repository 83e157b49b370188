package io.sash.spark.functions

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.expressions.Aggregator

import io.sash.core.algebra.Aggregation

/**
 * An operation of the core library, or one of your own by its trait, as Spark's typed
 * `Aggregator`:
 * {{{
 * dataset.select(CoreAggregator(GeometricMean).toColumn)
 * spark.udf.register("widest_step", functions.udaf(CoreAggregator(WidestStep)))
 * }}}
 * Over no rows it answers what the operation answers for its identity. Every row is lifted, NULLs
 * too, as the operation's input type has them; `udaf` skips rows whose input is NULL where that
 * type is primitive. Groups are combined in the order in which Spark merges them, so the answer of
 * an operation that is not commutative depends on it, as that of `first` does.
 *
 * Cost: a lift and a combine a row, and the encoding of partials between tasks, which are objects
 * to Spark: where speed matters, say the operation in lambdas (`monoid_agg`).
 *
 * Part of the API.
 *
 * @param bufferEncoder how partials travel; by Kryo unless said otherwise
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

  /** Of whatever object a partial is, a primitive being one, too. */
  private def byKryo: Encoder[AnyRef] = Encoders.kryo[AnyRef]

  def apply[In, Agg, Out](operation: Aggregation[In, Agg, Out])(implicit
      outputEncoder: Encoder[Out]
  ): CoreAggregator[In, Agg, Out] =
    new CoreAggregator(operation, byKryo.asInstanceOf[Encoder[Agg]], outputEncoder)
}
