package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

import io.sash.spark.aggregates.Doubles.{plus, times}
import io.sash.spark.base.{ArgumentChecks, SashFunction}

/**
 * A mean in which a weight halves in each half-life. The sums are as of the time of the youngest
 * row, so two parts combine at the later of their times, in any order.
 */
private[spark] case object EwmMean extends OfDouble with OfHalfLife {
  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(x, ts, _) = arguments
    val weights = weightsOf(arguments)
    MonoidParts(
      Seq(x, ts),
      Seq(
        OneCell.number("youngest", TimeAxis.number(ts, name), Double.NegativeInfinity),
        OneCell.number("sum", x),
        OneCell.number("weight", Literal(1.0))
      ),
      combine = (o, y) => {
        val at = Greatest(Seq(o(0), y(0)))
        def aged(part: Seq[Expression], i: Int) =
          Doubles.weighted(part(i), weights.decay(part(0), at))
        Seq(at, plus(aged(o, 1), aged(y, 1)), plus(aged(o, 2), aged(y, 2)))
      },
      lower = { case Seq(_, sum, weight) => Doubles.weightedMean(sum, weight) }
    )
  }

  override val function: SashFunction = described("ewm_mean")("""
    Returns the mean in which a value weighs the less the older it is, exponentially by time.

    * x - a number, taken as a DOUBLE
    * ts - the time, a timestamp, a date or a number
    * half_life - the age at which a weight is a half: a constant interval, as in '1 hour', or
      a number if `ts` is one

    > SELECT ts, _FUNC_(x, ts, 2) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0),
      (2, 3.0) AS t(ts, x);
    0  6.0
    2  4.0

    The same as pandas' `ewm(halflife, times)`, which has adjust=True. Weights are
    relative to the youngest row of the window, so the answer does not depend on the
    present time. It is the same as of any later time, since all weights then fall
    alike. A day has 24 hours. Rows in which `x` or `ts` is NULL are skipped; NULL over
    no rows.
  """)
}

/**
 * A mean in which each row makes all older weights smaller by the factor 1 - alpha. The sums are
 * as of the youngest row that has a value, whose weight is 1. So they stay as they are while
 * NULLs follow, however many. Two more cells hold the product of the factors up to that row, and
 * of the factors after it.
 */
private[spark] case object EwmMeanByRows extends OfDouble {
  override def check(arguments: Seq[Expression]): TypeCheckResult =
    ArgumentChecks.checkShare("alpha", arguments(1))

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val x = arguments.head
    val alpha = Cast(arguments(1), DoubleType).eval().asInstanceOf[Double]
    val (one, ofRow) = (Literal(1.0), Literal(1.0 - alpha))

    // If alpha is 1, older rows have no weight: not even an infinite sum stays.
    def aged(sum: Expression, factor: Expression): Expression =
      if (alpha == 1.0) Literal(0.0) else Doubles.weighted(sum, factor)

    MonoidParts(
      Nil, // a NULL ages the rows before it
      Seq(
        OneCell.number("sum", Coalesce(Seq(x, Literal(0.0)))),
        OneCell.number("weight", If(IsNull(x), Literal(0.0), one)), // 0 or at least 1
        OneCell.number("until", If(IsNull(x), one, ofRow), none = 1.0),
        OneCell.number("since", If(IsNull(x), ofRow, one), none = 1.0)
      ),
      combine = (o, y) => {
        val factor = times(o(3), y(2))
        val joined = Seq(
          plus(aged(o(0), factor), y(0)),
          plus(times(o(1), factor), y(1)),
          times(o(2), factor),
          y(3)
        )
        val sameValue = o.take(3) :+ times(o(3), y(3))
        MonoidParts.pick(EqualTo(y(1), Literal(0.0)))(joined, sameValue)
      },
      lower = cells => Doubles.weightedMean(cells(0), cells(1))
    )
  }

  override val function: SashFunction = described("ewm_mean_by_rows")("""
    Returns the mean in which a value weighs the less the older it is, exponentially by rows.

    * x - a number, taken as a DOUBLE
    * alpha - the constant share, more than 0 and at most 1, by which a row takes weight from
      all before it

    > SELECT ts, _FUNC_(x, 0.5) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0),
      (2, 3.0) AS t(ts, x);
    0  6.0
    2  4.0

    The same as pandas' `ewm(alpha)`, which has adjust=True. The rows are taken in the window's
    order; a group of GROUP BY has none. A NULL ages the rows before it; NULL over no values.
  """)
}
