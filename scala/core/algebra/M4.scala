package io.sash.core.algebra

/** What [[M4]] keeps of a part of a time series. */
final case class M4(first: Point, last: Point, min: Point, max: Point)

/**
 * First, last, least and greatest point of a time series: the four that a chart needs of each
 * column of pixels, to draw the line as all points would. None of an empty window.
 *
 * Types: Point, M4 by its halves, Option[M4]. Identity: nothing. Associative; not commutative.
 * Cost: two comparisons. Of equal values the first in arrival order; a NaN is both the least and
 * the greatest, as [[Ranking]] says.
 * {{{
 * M4.aggregate(Point(1, 3.0), Point(2, 1.0), Point(3, 4.0)).map(_.max) == Some(Point(3, 4.0))
 * }}}
 * Paper: Jugel, Jerzak, Hackenbroich, Markl, ''M4'', PVLDB 2014; table 1 of ''In-Order
 * Sliding-Window Aggregation in Worst-Case Constant Time''.
 */
object M4
    extends Algebraic[
      Point,
      (Option[Point], Option[Point]),
      (Option[Point], Option[Point]),
      (Option[Point], Option[Point]),
      (Option[Point], Option[Point]),
      Option[M4]
    ](
      Both(First[Point], Last[Point]),
      Both(Min.of(M4Ranking.ByValue), Max.of(M4Ranking.ByValue))
    ) {
  override def finish(
      ends: (Option[Point], Option[Point]),
      extremes: (Option[Point], Option[Point])
  ): Option[M4] = for {
    first <- ends._1
    last <- ends._2
    min <- extremes._1
    max <- extremes._2
  } yield M4(first, last, min, max)
}

private object M4Ranking {
  private def byValue(ordering: Ordering[Double]): Ordering[Point] = ordering.on(_.value)

  val ByValue: Ranking[Point] =
    new Ranking(byValue(Ranking.ofDouble.highest), byValue(Ranking.ofDouble.lowest))
}
