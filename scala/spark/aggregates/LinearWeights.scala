package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.unsafe.types.UTF8String

import io.sash.spark.aggregates.Doubles.plus
import io.sash.spark.base.{ArgumentChecks, SashErrors, SashFunction}
import io.sash.spark.times.IntervalText

/**
 * A sum or a mean in which a value's weight falls in a line, from 1 to 0 at the age of `span`.
 * Ages are counted until the time of the youngest row, or of the label that asks. The window
 * begins `span` before that time. So a weight is the time from the window's beginning to the row,
 * divided by `span`.
 *
 * The partial aggregate has the sum of the values and the number of rows. It also has both with
 * each row weighted by its distance from the part's oldest row. Two parts combine at the earlier
 * of their times, in any order. No term is less than 0 unless its value is, so that nothing is
 * subtracted from a sum: a value whose weight is small, or 0, leaves no rounding error of its own
 * size.
 */
private[aggregates] sealed abstract class LinearWeights extends AsOfTime with OfDouble {

  /** The answer, from the weighted sum of the values and the sum of the weights. */
  protected def answer(sum: Expression, weight: Expression): Expression

  override protected def read(arguments: Seq[Expression]): Seq[Expression] =
    arguments.init :+ IntervalText.of(name, "span", arguments.last)

  override def check(arguments: Seq[Expression]): TypeCheckResult = {
    val Seq(_, ts, span) = arguments
    ArgumentChecks.inTurn(TimeAxis.check("ts", ts), TimeAxis.checkDistance("span", span, ts))
  }

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(x, ts, span) = arguments
    val at = TimeAxis.number(ts, name)
    val length = Literal(TimeAxis.number(span, ts.dataType))
    MonoidParts(
      Seq(x, ts),
      Seq(
        OneCell.number("rows", Literal(1.0)),
        OneCell.number("oldest", at),
        OneCell.number("youngest", at),
        OneCell.number("sum", x),
        OneCell.number("moved_sum", Literal(0.0)),
        OneCell.number("moved_rows", Literal(0.0))
      ),
      combine = MonoidParts.ofRows(isEmpty = c => EqualTo(c(0), Literal(0.0)))(
        joined(length, _, _)
      ),
      lower = { case Seq(rows, oldest, youngest, sum, movedSum, movedRows) =>
        val before = Doubles.quotient(
          beforeOldest(length, Doubles.distance(oldest, youngest)),
          length
        )
        def weighted(all: Expression, moved: Expression) =
          plus(TimeAxis.area(all, before), moved)
        If(
          EqualTo(rows, Literal(0.0)),
          nothing(DoubleType),
          answer(weighted(sum, movedSum), weighted(rows, movedRows))
        )
      }
    )
  }

  override def timePlace(arguments: Seq[Expression]): Int = 1

  override def asOf(
      arguments: Seq[Expression],
      cells: Seq[Expression],
      now: Expression
  ): Seq[Expression] = cells.updated(2, Greatest(Seq(cells(2), now)))

  private def joined(
      length: Expression,
      o: Seq[Expression],
      y: Seq[Expression]
  ): Seq[Expression] = {
    val from = Least(Seq(o(1), y(1)))
    def ofSpan(distance: Expression) = Doubles.quotient(distance, length)
    def moved(of: Int, sums: Int): Expression = {
      val parts = Seq(o, y).map { part =>
        plus(part(sums), TimeAxis.area(part(of), ofSpan(Doubles.distance(from, part(1)))))
      }
      plus(parts(0), parts(1))
    }
    Seq(
      plus(o(0), y(0)),
      from,
      Greatest(Seq(o(2), y(2))),
      plus(o(3), y(3)),
      moved(of = 3, sums = 4),
      moved(of = 0, sums = 5)
    )
  }

  /** The time from the window's beginning to its oldest row; an error if that row is too old. */
  private def beforeOldest(span: Expression, oldest: Expression): Expression = StaticInvoke(
    LinearWeightsSpan.getClass,
    DoubleType,
    "before",
    Seq(span, oldest, Literal(name)),
    returnNullable = false
  )
}

private[spark] case object LinearWeightedAvg extends LinearWeights {
  override protected def answer(sum: Expression, weight: Expression): Expression =
    Doubles.weightedMean(sum, weight)

  override val function: SashFunction = described("linear_weighted_avg")("""
    Returns the mean in which a value weighs the less the older it is, in a line.

    * x - a number, taken as a DOUBLE
    * ts - the time, a timestamp, a date or a number
    * span - the age at which a row's weight is 0: a constant interval, as in '1 hour', or a
      number if `ts` is one

    > SELECT ts, _FUNC_(x, ts, 4) OVER (ORDER BY ts RANGE 4 PRECEDING) FROM VALUES (0, 6.0),
      (2, 3.0), (6, 1.0) AS t(ts, x);
    0  6.0
    2  4.0
    6  1.0

    The youngest row of the window weighs 1. A row weighs the less the older it is, and
    at the age of `span` it weighs 0. In a correlated subquery, as in LATERAL, an age is
    the time to the end of the label's range over `ts`: the answer is as of the label. A
    row that is older still is an error: the window is at most as long as `span`. A day
    has 24 hours; where clocks change, a RANGE of a day may hold 25, and wants a span of
    as many. Rows in which `x` or `ts` is NULL are skipped; NULL over no rows.
  """)
}

private[spark] case object LinearWeightedSum extends LinearWeights {
  override protected def answer(sum: Expression, weight: Expression): Expression = sum

  override val function: SashFunction = described("linear_weighted_sum")("""
    Returns the sum in which a value weighs the less the older it is, in a line.

    * x - a number, taken as a DOUBLE
    * ts - the time, a timestamp, a date or a number
    * span - the age at which a row's weight is 0: a constant interval, as in '1 hour', or a
      number if `ts` is one

    > SELECT ts, _FUNC_(x, ts, 4) OVER (ORDER BY ts RANGE 4 PRECEDING) FROM VALUES (0, 6.0),
      (2, 3.0), (6, 1.0) AS t(ts, x);
    0  6.0
    2  6.0
    6  1.0

    The youngest row of the window weighs 1. A row weighs the less the older it is, and
    at the age of `span` it weighs 0. In a correlated subquery, as in LATERAL, an age is
    the time to the end of the label's range over `ts`: the answer is as of the label. A
    row that is older still is an error: the window is at most as long as `span`. A day
    has 24 hours; where clocks change, a RANGE of a day may hold 25, and wants a span of
    as many. Rows in which `x` or `ts` is NULL are skipped; NULL over no rows. The sum
    over a span less the sum over its half has the weights of a triangle, which peaks in
    the middle of the span.
  """)
}

/** Generated code calls this method. */
private[sash] object LinearWeightsSpan {

  /** How far a row may be beyond the span by rounding, since the frame measures exactly. */
  private val Slack = 1e-9

  def before(span: Double, oldest: Double, function: UTF8String): Double =
    if (!(oldest > span * (1 + Slack))) Math.max(0.0, span - oldest) // keeps a NaN
    else
      throw SashErrors.invalidArgument(
        function.toString,
        "span",
        "a row of the window is older than that; ask for it over a window of that length, as " +
          "in RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW. Where clocks change, " +
          "a day may have 25 hours: take a span of as many"
      )
}
