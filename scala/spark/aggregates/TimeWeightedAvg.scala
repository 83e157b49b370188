package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashErrors, SashFunction, TimeUnit}
import io.sash.spark.times.IntervalText

/**
 * The average by time of a value that holds until the next row. The partial aggregate has the
 * first and the last row, and the integral from the one to the other.
 *
 * With the length of the window and the value that held before each row, the time before the
 * window's first row counts, too. The last value then holds until the row or the label that asks.
 * A row without a value moves the time on. If neither the value of a part's first row nor the
 * value before it is known, the part begins at the next row.
 */
private[spark] case object TimeWeightedAvg extends AsOfTime with OfDouble {
  override protected def read(arguments: Seq[Expression]): Seq[Expression] = arguments match {
    case Seq(x, ts, before, span) => Seq(x, ts, before, IntervalText.of(name, "span", span))
    case Seq(x, ts)               => Seq(x, ts)
    case _ =>
      throw SashErrors.invalidArgument(
        name,
        "span",
        "it is missing; write the length of the window, as in '1 hour'"
      )
  }

  override def types(arguments: Seq[Expression]): Seq[DataType] =
    arguments.zipWithIndex.map {
      case (_, 0 | 2) => DoubleType
      case (other, _) => other.dataType
    }

  override def check(arguments: Seq[Expression]): TypeCheckResult = {
    val ts = arguments(1)
    ArgumentChecks.inTurn(
      TimeAxis.check("ts", ts) +:
        arguments.lift(3).toSeq.map(TimeAxis.checkDistance("span", _, ts)): _*
    )
  }

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(x, ts, start @ _*) = arguments
    val at = TimeAxis.number(ts, name)
    def held(from: Expression, until: Expression) = this.held(ts, from, until)
    val before = start.headOption.getOrElse(nothing(DoubleType))
    val value = Coalesce(Seq(x, before))
    MonoidParts(
      if (start.isEmpty) Seq(x, ts) else Seq(ts),
      Seq(
        OneCell.nullable("first_time", If(IsNull(value), nothing(DoubleType), at)),
        OneCell.nullable("before", before),
        OneCell.nullable("last_time", at),
        OneCell.nullable("last", value),
        OneCell.number("integral", Literal(0.0))
      ),
      combine = (o, y) => {
        val until = Coalesce(Seq(y(0), y(2)))
        val between = TimeAxis.area(o(3), held(o(2), until))
        Seq(
          Coalesce(Seq(o(0), y(0))),
          If(IsNull(o(0)), y(1), o(1)),
          Coalesce(Seq(y(2), o(2))),
          Coalesce(Seq(y(3), o(3))),
          // `between` is NULL if either part has no rows, or the older one no value
          new Add(new Add(o(4), Coalesce(Seq(between, Literal(0.0)))), y(4))
        )
      },
      lower = { case Seq(firstTime, before, lastTime, _, integral) =>
        val seen = held(firstTime, lastTime)
        start.lift(1).fold(average(integral, seen)) { span =>
          val asked = Literal(TimeAxis.number(span, ts.dataType) * unitOf(ts.dataType))
          val unseen = Greatest(Seq(Literal(0.0), new Subtract(asked, seen)))
          val whole = new Add(TimeAxis.area(before, unseen), integral)
          If(
            IsNull(before),
            average(integral, seen),
            average(whole, new Add(unseen, seen))
          )
        }
      },
      recipe = if (start.isEmpty) 1 else 2
    )
  }

  override def timePlace(arguments: Seq[Expression]): Int = 1

  override def asOf(
      arguments: Seq[Expression],
      cells: Seq[Expression],
      now: Expression
  ): Seq[Expression] = {
    val Seq(first, before, lastTime, last, integral) = cells
    val until = Greatest(Seq(lastTime, now))
    val held = TimeAxis.area(last, this.held(arguments(timePlace(arguments)), lastTime, until))
    val whole = new Add(integral, Coalesce(Seq(held, Literal(0.0))))
    Seq(first, before, until, last, whole)
  }

  /** Without a span the average is over the time from the first row to the last. */
  override def asksLabel(arguments: Seq[Expression]): Boolean = arguments.isDefinedAt(3)

  override def spanOfRow(arguments: Seq[Expression]): Option[Double] =
    arguments.lift(3).map(TimeAxis.number(_, arguments(timePlace(arguments)).dataType))

  private def held(time: Expression, from: Expression, until: Expression): Expression =
    new Multiply(Doubles.distance(from, until), Literal(unitOf(time.dataType)))

  /**
   * The factor from the axis to the unit of integrals. A great value times microseconds would
   * overflow, so the unit is about a second: 2^20 microseconds, which is as exact.
   */
  private def unitOf(time: DataType): Double = time match {
    case TimeUnit(TimeUnit.Micro) => math.pow(2, -20)
    case _                        => 1.0
  }

  private def average(integral: Expression, held: Expression): Expression =
    If(GreaterThan(held, Literal(0.0)), Doubles.quotient(integral, held), nothing(DoubleType))

  override val function: SashFunction = described("time_weighted_avg", optional = 2)("""
    Returns the average of a value over time: a row's value holds until the next row, and
    weighs as long as it holds.

    * x - a number, taken as a DOUBLE
    * ts - the time, by which the window is ordered: a timestamp, a date or a number
    * before - the value that held before the row: `lag(x)`, or `lag(x) IGNORE NULLS`; it
      comes with `span`
    * span - the window's length, a constant interval, as in '1 hour', or a number if `ts`
      is one

    > SELECT ts, _FUNC_(x, ts) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM VALUES (0, 6.0), (3,
      2.0), (4, 9.0) AS t(ts, x);
    0  NULL
    3  6.0
    4  5.0

    > SELECT ts, _FUNC_(x, ts, before, 2) OVER (ORDER BY ts RANGE 2 PRECEDING) FROM (SELECT
      *, lag(x) IGNORE NULLS OVER (ORDER BY ts) AS before FROM VALUES (0, 6.0), (3, 2.0),
      (4, 9.0), (5, NULL) AS t(ts, x));
    0  NULL
    3  6.0
    4  4.0
    5  5.5

    Without `span` the average is over the time from the window's first row to its last.
    Rows in which `x` is NULL are skipped then.

    With `span` and `before` it is over the whole span until the row that asks. The value
    that held before the first row counts, too, and the last value holds until the row. So
    a row in which `x` is NULL has no value, but moves the time on. A frame of RANGE may end
    long before its row: the span then begins where the frame does, and it ends after it, if
    the frame does. In a correlated subquery, as in LATERAL, the span ends where the label's
    range over `ts` ends. In GROUP BY it ends at the last row.

    Where `before` is NULL the span begins at the first row. A day has 24 hours. Rows in
    which `ts` is NULL are skipped; NULL over no time. The rows are taken in the window's
    order; a group of GROUP BY has none.
  """)
}
