package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, DoubleType}

import io.sash.spark.base.SashFunction

/**
 * A sum in which each row's weight halves in each half-life. It is as of the latest time of all
 * rows, or of the label that asks. Two parts combine at the later of their times, in any order.
 */
private[aggregates] sealed abstract class HalvedByTime extends AsOfTime with OfHalfLife {
  override def dataType(arguments: Seq[Expression]): DataType = DoubleType

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val values :+ ts :+ _ = arguments
    val weights = weightsOf(arguments)
    MonoidParts(
      Seq(ts),
      OneCell.number("latest", TimeAxis.number(ts, name), Double.NegativeInfinity) +:
        summed(values),
      combine = (o, y) => {
        val at = Greatest(Seq(o(0), y(0)))
        val sum = Doubles.plus(weights.aged(o(1), o(0), at), weights.aged(y(1), y(0), at))
        Seq(at, sum) ++ o.drop(2).zip(y.drop(2)).map { case (older, younger) =>
          And(older, younger)
        }
      },
      lower
    )
  }

  override def timePlace(arguments: Seq[Expression]): Int = arguments.length - 2

  override def asOf(
      arguments: Seq[Expression],
      cells: Seq[Expression],
      now: Expression
  ): Seq[Expression] = {
    val Seq(latest, sum, others @ _*) = cells
    val at = Greatest(Seq(latest, now))
    Seq(at, weightsOf(arguments).aged(sum, latest, at)) ++ others
  }

  /** The cell of the sum, and perhaps one that says whether nothing was summed. */
  protected def summed(values: Seq[Expression]): Seq[OneCell]

  protected def lower(cells: Seq[Expression]): Expression
}

/** A row whose value is NULL adds nothing, but its time counts. */
private[spark] case object DecayedSum extends HalvedByTime with OfDouble {
  override protected def summed(values: Seq[Expression]): Seq[OneCell] = Seq(
    OneCell.number("sum", Coalesce(Seq(values.head, Literal(0.0)))),
    OneCell("empty", Literal(true), IsNull(values.head))
  )

  override protected def lower(cells: Seq[Expression]): Expression =
    If(cells(2), nothing(DoubleType), cells(1))

  override val function: SashFunction = described("decayed_sum")("""
    Returns the sum in which a value weighs the less the older it is, exponentially.

    * x - a number, taken as a DOUBLE
    * ts - the time, a timestamp, a date or a number
    * half_life - the age at which a weight is a half: a constant interval, as in '1 hour',
      or a number if `ts` is one

    > SELECT ts, _FUNC_(x, ts, 2) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0),
      (2, 3.0), (4, NULL) AS t(ts, x);
    0  6.0
    2  6.0
    4  3.0

    A weight is 2^(-age / `half_life`). An age is the time from its row to the latest
    `ts` of the window, so the answer does not depend on the present time. In a
    correlated subquery, as in LATERAL, it is the time to the end of the label's range
    over `ts`: the answer is as of the label. A NULL in `x` adds nothing, but its row's
    time counts. A condition stands in the value, as in `decayed_sum(IF(paid, x, NULL),
    …)`; FILTER leaves out the row's time, too. Rows in which `ts` is NULL are skipped;
    NULL over no values. A day has 24 hours. `ewm_mean` is the mean with these weights.
  """)
}

private[spark] case object DecayedCount extends HalvedByTime {
  override def ofNoRows: Any = 0.0

  override protected def summed(values: Seq[Expression]): Seq[OneCell] =
    Seq(OneCell.number("weight", Literal(1.0)))

  override protected def lower(cells: Seq[Expression]): Expression = cells(1)

  override val function: SashFunction = described("decayed_count")("""
    Returns the number of rows, in which a row weighs the less the older it is,
    exponentially.

    * ts - the time, a timestamp, a date or a number
    * half_life - the age at which a weight is a half: a constant interval, as in '1 hour',
      or a number if `ts` is one

    > SELECT ts, _FUNC_(ts, 2) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0), (2), (4)
      AS t(ts);
    0  1.0
    2  1.5
    4  1.75

    `decayed_sum` has the same weights and ages, and `decayed_sum(IF(c, 1, 0), …)`
    counts the rows in which `c` holds. Rows in which `ts` is NULL are skipped; 0.0 over
    no rows.
  """)
}
