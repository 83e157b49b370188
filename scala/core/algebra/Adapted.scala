package io.sash.core.algebra

/** `aggregation` over a `part` of each input, with `finish` applied to its answer. */
private[sash] class Adapted[I, In, Agg, Out, B](
    val aggregation: Aggregation[In, Agg, Out],
    val part: I => In,
    val finish: Out => B
) extends Aggregation[I, Agg, B] {
  override def identity: Agg = aggregation.identity
  override def lift(in: I): Agg = aggregation.lift(part(in))
  override def combine(older: Agg, younger: Agg): Agg = aggregation.combine(older, younger)
  override def lower(agg: Agg): B = finish(aggregation.lower(agg))
}
