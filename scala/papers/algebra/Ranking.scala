package io.sash.papers.algebra

import scala.annotation.implicitNotFound

/**
 * The orders by which a maximum and a minimum prefer values. For most types these are an Ordering
 * and its reverse. For doubles they are total orders with -0.0 below 0.0. In both, a NaN beats
 * every number, so the answer shows a NaN in its window, as a sum does.
 *
 * @param highest ranks the values that a maximum prefers greater
 * @param lowest ranks the values that a minimum prefers greater
 */
@implicitNotFound("no Ordering of ${T} is known")
final class Ranking[T](val highest: Ordering[T], val lowest: Ordering[T]) extends Serializable

object Ranking extends RankingByOrdering {
  implicit val ofLong: Ranking[Long] = byOrdering(Ordering.Long)

  implicit val ofDouble: Ranking[Double] =
    new Ranking(Ordering.Double.TotalOrdering, Ordering.Double.TotalOrdering.on(-_))
}

private[algebra] sealed trait RankingByOrdering {
  implicit def byOrdering[T](implicit ordering: Ordering[T]): Ranking[T] =
    new Ranking(ordering, ordering.reverse)
}
