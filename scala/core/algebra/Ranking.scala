package io.sash.core.algebra

import scala.annotation.implicitNotFound

/**
 * What beats what in a maximum and in a minimum. For most types that is an Ordering and its
 * reverse. For doubles it is a total order, -0.0 below 0.0, in which a NaN beats every number
 * in a maximum and in a minimum: an answer tells of the NaN in its window, as a sum does.
 *
 * @param highest compares greater what a maximum prefers
 * @param lowest compares greater what a minimum prefers
 */
@implicitNotFound("no Ordering of ${T} is known")
final class Ranking[T](val highest: Ordering[T], val lowest: Ordering[T]) extends Serializable

object Ranking extends RankingByOrdering {
  implicit val ofDouble: Ranking[Double] =
    new Ranking(Ordering.Double.TotalOrdering, Ordering.Double.TotalOrdering.on(-_))
}

private[algebra] sealed trait RankingByOrdering {
  implicit def byOrdering[T](implicit ordering: Ordering[T]): Ranking[T] =
    new Ranking(ordering, ordering.reverse)
}
