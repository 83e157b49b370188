package io.sash.papers.algebra

/** The answer of [[M4]] for a part of a time series. */
final case class M4(first: Point, last: Point, min: Point, max: Point)

/**
 * The first, last, least and greatest point of a time series. From these four for each column of
 * pixels, a chart draws the same line as from all points. An empty window answers None.
 *
 * Types: Point, the M4 in two halves, Option[M4]. Identity: None in each place. Associative; not
 * commutative. Cost: two comparisons. Among equal values the first in arrival order wins. A NaN
 * is both the least and the greatest, as [[Ranking]] says.
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
    )((ends, extremes) =>
      for {
        first <- ends._1
        last <- ends._2
        min <- extremes._1
        max <- extremes._2
      } yield new M4(first, last, min, max)
    )

private object M4Ranking {
  private def byValue(ordering: Ordering[Double]): Ordering[Point] = ordering.on(_.value)

  val ByValue: Ranking[Point] =
    new Ranking(byValue(Ranking.ofDouble.highest), byValue(Ranking.ofDouble.lowest))
}
