package io.sash.papers.algebra

/**
 * The argument at which a measure is greatest. Among several it is the first in arrival order. An
 * empty window answers None.
 *
 * Types: (M, A), Option[(M, A)], Option[A]. Identity: None. Associative, selective; not
 * commutative, because of ties. Cost: one comparison. A NaN measure beats every number, as
 * [[Ranking]] says; the argument may be null.
 * {{{
 * ArgMax[Double, String].aggregate((2.0, "Ann"), (5.0, "Bo"), (5.0, "Cy")) == Some("Bo")
 * }}}
 * Paper: Reactive Aggregator, section 3.1 and table 1.
 */
object ArgMax {
  def apply[M, A](implicit
      ranking: Ranking[M]
  ): SelectiveAggregation[(M, A), Option[(M, A)], Option[A]] = Selection.argument(ranking.highest)
}
