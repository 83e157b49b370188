package io.sash.papers.algebra

/**
 * The argument at which a measure is least. Among several it is the first in arrival order. An
 * empty window answers None.
 *
 * Types: (M, A), Option[(M, A)], Option[A]. Identity: None. Associative, selective; not
 * commutative, because of ties. Cost: one comparison. A NaN measure beats every number, as
 * [[Ranking]] says; the argument may be null.
 * {{{
 * ArgMin[Double, String].aggregate((2.0, "Ann"), (2.0, "Bo"), (5.0, "Cy")) == Some("Ann")
 * }}}
 * Paper: Reactive Aggregator, table 1.
 */
final class ArgMin[M, A] private (ranking: Ranking[M]) extends Selection[(M, A), A] {
  override protected def replaces(younger: (M, A), older: (M, A)): Boolean =
    ranking.lowest.gt(younger._1, older._1)
  override protected def answer(in: (M, A)): A = in._2
}

object ArgMin {
  def apply[M, A](implicit ranking: Ranking[M]): ArgMin[M, A] = new ArgMin(ranking)
}
