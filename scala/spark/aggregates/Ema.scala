package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

import io.sash.spark.aggregates.Doubles.{plus, times}
import io.sash.spark.base.SashFunction

/**
 * The exponential moving average by the recursion s = s · d + x · (1 - d), where d is the decay
 * since the row before, and s is x in the first row. Over several rows the step is a function
 * s -> slope · s + offset of the average at their first row.
 */
private[spark] case object Ema extends OfDouble with OfHalfLife {
  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(x, ts, _) = arguments
    val weights = weightsOf(arguments)
    val at = TimeAxis.number(ts, name)
    MonoidParts(
      Seq(x, ts),
      Seq(
        OneCell("empty", Literal(true), Literal(false)),
        OneCell.number("oldest", at),
        OneCell.number("youngest", at),
        OneCell.number("start", x),
        OneCell.number("slope", Literal(1.0), none = 1.0),
        OneCell.number("offset", Literal(0.0))
      ),
      combine = MonoidParts.ofRows(isEmpty = _.head)(joined(weights, _, _)),
      lower = { case Seq(isEmpty, _, _, start, slope, offset) =>
        If(isEmpty, nothing(DoubleType), plus(Doubles.weighted(start, slope), offset))
      }
    )
  }

  private def joined(
      weights: HalfLife,
      older: Seq[Expression],
      younger: Seq[Expression]
  ): Seq[Expression] = {
    val Seq(_, oldest, before, first, slopeBefore, offsetBefore) = older
    val Seq(_, after, youngest, entering, slopeAfter, offsetAfter) = younger
    val d = weights.decay(before, after)
    val moved =
      plus(
        Doubles.weighted(offsetBefore, d),
        TimeAxis.area(entering, new Subtract(Literal(1.0), d))
      )
    Seq(
      Literal(false),
      oldest,
      youngest,
      first,
      times(times(slopeAfter, d), slopeBefore),
      plus(Doubles.weighted(moved, slopeAfter), offsetAfter)
    )
  }

  override val function: SashFunction = described("ema")("""
    Returns the exponential moving average by time: each row moves it towards its value, by
    a share that grows with the time since the row before.

    * x - a number, taken as a DOUBLE
    * ts - the time, by which the window is ordered: a timestamp, a date or a number
    * half_life - the time after which half of an old average is left: a constant interval,
      as in '1 hour', or a number if `ts` is one

    > SELECT ts, _FUNC_(x, ts, 2) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0),
      (2, 3.0), (4, 3.0) AS t(ts, x);
    0  6.0
    2  4.5
    4  3.75

    In the window's first row the average is its value, and it holds until the next row.
    `ewm_mean` has weights that are corrected for the beginning. A day has 24 hours.
    Rows in which `x` or `ts` is NULL are skipped; NULL over no rows. The rows are taken
    in the window's order; a group of GROUP BY has none.
  """)
}
