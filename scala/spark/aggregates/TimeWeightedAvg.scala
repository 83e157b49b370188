package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashErrors, SashFunction}
import io.sash.spark.kinds.IntervalText

/**
 * The average by time of a value that holds until the next row. The partial aggregate has the
 * first and the last row, and the integral from the one to the other.
 *
 * @param start the length of the window and the value that held before each row, if the time
 *   before the window's first row counts, too
 */
private[sash] final case class TimeWeightedAvg(
    value: Expression,
    time: Expression,
    start: Option[(Expression, Expression)]
) extends OwnMonoidAggregate
    with ImplicitCastInputTypes {
  import OwnMonoidAggregate._

  private lazy val firstTime = cell("first_time", DoubleType)
  private lazy val before = cell("before", DoubleType)
  private lazy val lastTime = cell("last_time", DoubleType)
  private lazy val last = cell("last", DoubleType)
  private lazy val integral = AttributeReference("integral", DoubleType, nullable = false)()

  override def children: Seq[Expression] =
    Seq(value, time) ++ start.toSeq.flatMap(s => Seq(s._1, s._2))
  override def prettyName: String = TimeWeightedAvg.Function.name
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true
  override def inputTypes: Seq[DataType] =
    Seq(DoubleType, time.dataType) ++ start.toSeq.flatMap(s => Seq(s._1.dataType, DoubleType))

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    TimeAxis.check("ts", time),
    start.fold[TypeCheckResult](TypeCheckSuccess)(s =>
      TimeAxis.checkDistance("span", s._1, time)
    ),
    super.checkInputDataTypes()
  )

  override lazy val aggBufferAttributes: Seq[AttributeReference] =
    Seq(firstTime, before, lastTime, last, integral)
  override lazy val initialValues: Seq[Expression] =
    Seq.fill(4)(nothing(DoubleType)) :+ Literal(0.0)
  override protected def required: Seq[Expression] = Seq(value, time)
  override protected def lift: Seq[Expression] = {
    val at = TimeAxis.number(time, prettyName)
    Seq(at, start.fold(nothing(DoubleType))(_._2), at, value, Literal(0.0))
  }

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val between = TimeAxis.area(o(3), held(o(2), y(0)))
    Seq(
      Coalesce(Seq(o(0), y(0))),
      If(IsNull(o(0)), y(1), o(1)),
      Coalesce(Seq(y(2), o(2))),
      Coalesce(Seq(y(3), o(3))),
      // NULL beside a part without rows
      new Add(new Add(o(4), Coalesce(Seq(between, Literal(0.0)))), y(4))
    )
  }

  /**
   * Microseconds times a great value overflow. This unit is about a second, and as exact as
   * microseconds.
   */
  private def unit: Double = time.dataType match {
    case TimestampType | TimestampNTZType => math.pow(2, -20)
    case _                                => 1.0
  }

  private def held(from: Expression, until: Expression): Expression =
    new Multiply(Doubles.distance(from, until), Literal(unit))

  override lazy val evaluateExpression: Expression = {
    val seen = held(firstTime, lastTime)
    start.fold(average(integral, seen)) { case (span, _) =>
      val asked = Literal(TimeAxis.number(span, time.dataType) * unit)
      val unseen = Greatest(Seq(Literal(0.0), new Subtract(asked, seen)))
      val whole = average(new Add(TimeAxis.area(before, unseen), integral), new Add(unseen, seen))
      If(IsNull(before), average(integral, seen), whole)
    }
  }

  private def average(integral: Expression, held: Expression): Expression =
    If(GreaterThan(held, Literal(0.0)), Doubles.quotient(integral, held), nothing(DoubleType))

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): TimeWeightedAvg =
    copy(children(0), children(1), start.map(_ => (children(2), children(3))))
}

private[sash] object TimeWeightedAvg {
  private[spark] val Function: SashFunction = SashFunction(
    "time_weighted_avg",
    "Returns the average of a value over time: a row's value holds until the next row, and " +
      "weighs as long as it holds.",
    Seq(
      "x" -> "a number, taken as a DOUBLE",
      "ts" -> "the time, by which the window is ordered: a timestamp, a date or a number",
      "span" -> ("the window's length, a constant interval, as in '1 hour', or a number if " +
        "`ts` is one"),
      "before" -> ("the value that held before the row: `lag(x)`, or `lag(x) IGNORE NULLS`; " +
        "`span` needs it")
    ),
    Seq(
      "SELECT ts, _FUNC_(x, ts) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM VALUES (0, 6.0), (3, " +
        "2.0), (4, 9.0) AS t(ts, x)" -> "0\tNULL\n3\t6.0\n4\t5.0",
      "SELECT ts, _FUNC_(x, ts, 2, before) OVER (ORDER BY ts RANGE 2 PRECEDING) FROM " +
        "(SELECT *, lag(x) OVER (ORDER BY ts) AS before FROM VALUES (0, 6.0), (3, 2.0), (4, " +
        "9.0) AS t(ts, x))" -> "0\tNULL\n3\t6.0\n4\t4.0"
    ),
    Seq(
      "Without `span` the average is over the time from the window's first row to its last. With",
      "`span` and `before` it is over the whole span until the last row: the value that held",
      "before the first row counts, too, from the window's start. Where `before` is NULL the",
      "span begins at the first row. A day has 24 hours. Rows in which `x` or `ts` is NULL are",
      "skipped; NULL over no time. The rows are taken in the window's order; a group of GROUP BY",
      "has none."
    ),
    classOf[TimeWeightedAvg],
    optional = 2
  ) {
    case Seq(x, ts) => TimeWeightedAvg(x, ts, None)
    case Seq(_, _, _) =>
      throw SashErrors.invalidArgument(
        "time_weighted_avg",
        "before",
        "it is missing; write the value that held before the row, as in lag(x)"
      )
    case Seq(x, ts, span, before) =>
      TimeWeightedAvg(x, ts, Some((IntervalText.of("time_weighted_avg", "span", span), before)))
  }
}
