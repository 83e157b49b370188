package io.sash.spark.streams.plan

import io.sash.spark.monoids.AggregateMonoid
import io.sash.spark.streams.checkpoint.StateSignature

/**
 * Partials in the description of a state: for each monoid the types of its cells, and Sash's
 * version of the way in which they are computed. Spark's own expressions for that are left out,
 * since another version of Spark may write the same computation in another way.
 */
private[spark] object PartialsSignature {
  def of(monoids: Seq[AggregateMonoid]): String = monoids
    .map(m => s"recipe ${m.recipe} ${StateSignature.typesOf(m.left.map(_.dataType))}")
    .mkString(", ")
}
