package io.sash.papers.algebra

/**
 * The argument at which a measure is least. All else is as in [[ArgMax]].
 * {{{
 * ArgMin[Double, String].aggregate((2.0, "Ann"), (2.0, "Bo"), (5.0, "Cy")) == Some("Ann")
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
object ArgMin {
  def apply[M, A](implicit
      ranking: Ranking[M]
  ): SelectiveAggregation[(M, A), Option[(M, A)], Option[A]] = Selection.argument(ranking.lowest)
}
