package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction

/**
 * The increase of a counter that falls when it restarts from 0. The partial aggregate has the
 * first and the last value, and the increase from the one to the other.
 */
private[aggregates] sealed abstract class OfCounter extends OfDouble {
  protected final def cells(counter: Expression): Seq[OneCell] = Seq(
    OneCell.nullable("first", counter),
    OneCell.nullable("last", counter),
    OneCell.number("increase", Literal(0.0))
  )

  protected final def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val isReset = LessThan(y(0), o(1))
    val step = If(isReset, y(0), new Subtract(y(0), o(1)))
    val between = Coalesce(Seq(step, Literal(0.0))) // NULL beside a part without rows
    Seq(earlier(o(0), y(0)), later(o(1), y(1)), new Add(new Add(o(2), between), y(2)))
  }

  protected final def earlier(older: Expression, younger: Expression): Expression =
    Coalesce(Seq(older, younger))

  protected final def later(older: Expression, younger: Expression): Expression =
    Coalesce(Seq(younger, older))
}

private[spark] case object CounterIncrease extends OfCounter {
  override def parts(arguments: Seq[Expression]): MonoidParts =
    MonoidParts(
      arguments,
      cells(arguments.head),
      combine,
      lower = cells => If(IsNull(cells(0)), nothing(DoubleType), cells(2))
    )

  override val function: SashFunction = described("counter_increase")("""
    Returns by how much a counter has grown from the first row to the last, although it
    restarts from 0.

    * x - the counter's value, a number, taken as a DOUBLE

    > SELECT ts, _FUNC_(x) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM VALUES (1, 5), (2, 9),
      (3, 1) AS t(ts, x);
    1  0.0
    2  4.0
    3  5.0

    A value less than the one before it is a restart, and counts from 0. The rows are taken
    in the window's order; a group of GROUP BY has none, and the answer there depends on how
    its rows arrive. NULLs are skipped; 0 over one row, NULL over none. It is the increase
    of PromQL without its extrapolation to the ends of the window.
  """)
}

private[spark] case object CounterRate extends OfCounter {
  override def check(arguments: Seq[Expression]): TypeCheckResult =
    TimeAxis.check("ts", arguments(1))

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(counter, ts) = arguments
    val at = TimeAxis.number(ts, name)
    MonoidParts(
      Seq(ts, counter),
      cells(counter) :+ OneCell.nullable("first_time", at) :+ OneCell.nullable("last_time", at),
      (o, y) => combine(o, y) :+ earlier(o(3), y(3)) :+ later(o(4), y(4)),
      lower = { case Seq(_, _, increase, first, last) =>
        If(
          GreaterThan(last, first),
          Doubles.quotient(increase, TimeAxis.seconds(new Subtract(last, first), ts.dataType)),
          nothing(DoubleType)
        )
      }
    )
  }

  override val function: SashFunction = described("counter_rate")("""
    Returns by how much a counter has grown per second from the first row to the last,
    although it restarts from 0.

    * x - the counter's value, a number, taken as a DOUBLE
    * ts - the time, a timestamp or a date; or a number, and then the rate is per 1 of it

    > SELECT ts, _FUNC_(x, ts) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM VALUES (1, 5), (2,
      9), (5, 3) AS t(ts, x);
    1  NULL
    2  4.0
    5  1.75

    The increase of `counter_increase`, divided by the time between the first row and the
    last. Rows in which either is NULL are skipped; NULL where no time passes between them.
  """)
}
