package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.trees.TernaryLike
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashErrors, SashFunction}
import io.sash.spark.kinds.IntervalText

/**
 * A sum or a mean in which a value's weight falls in a line, from 1 at the time of the youngest
 * row to 0 at the age of `span`. So a weight is the time from the window's beginning, `span`
 * before the youngest row, to the row. It is a part of `span`.
 *
 * The partial aggregate has the sums of the values and of the numbers of rows, each also times
 * the distance from the part's oldest row. Two parts combine at the earlier of their times, in
 * any order. No term is less than 0 unless its value is, so that nothing is subtracted from a
 * sum: a value whose weight is small, or 0, leaves no rounding error of its own size.
 */
private[sash] final case class LinearWeights(
    value: Expression,
    time: Expression,
    span: Expression,
    isMean: Boolean
) extends WeightedByAge
    with TernaryLike[Expression] {
  private lazy val rows = number("rows")
  private lazy val oldest = number("oldest")
  private lazy val youngest = number("youngest")
  private lazy val sum = number("sum")
  private lazy val movedSum = number("moved_sum")
  private lazy val movedRows = number("moved_rows")

  override def first: Expression = value
  override def second: Expression = time
  override def third: Expression = span
  override def prettyName: String = (if (isMean) LinearWeights.Mean else LinearWeights.Sum).name
  override def inputTypes: Seq[DataType] = Seq(DoubleType, time.dataType, span.dataType)

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    TimeAxis.check("ts", time),
    TimeAxis.checkDistance("span", span, time),
    super.checkInputDataTypes()
  )

  override lazy val aggBufferAttributes: Seq[AttributeReference] =
    Seq(rows, oldest, youngest, sum, movedSum, movedRows)
  override lazy val initialValues: Seq[Expression] = Seq.fill(6)(Literal(0.0))
  override protected def required: Seq[Expression] = Seq(value, time)
  override protected def lift: Seq[Expression] = {
    val at = TimeAxis.number(time, prettyName)
    Seq(Literal(1.0), at, at, value, Literal(0.0), Literal(0.0))
  }

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val from = Least(Seq(o(1), y(1)))
    def moved(of: Int, sums: Int): Expression = {
      val parts = Seq(o, y).map { part =>
        plus(part(sums), TimeAxis.area(part(of), ofSpan(Doubles.distance(from, part(1)))))
      }
      plus(parts(0), parts(1))
    }
    val joined = Seq(
      plus(o(0), y(0)),
      from,
      Greatest(Seq(o(2), y(2))),
      plus(o(3), y(3)),
      moved(of = 3, sums = 4),
      moved(of = 0, sums = 5)
    )
    joined.zip(o.zip(y)).map { case (j, (older, younger)) =>
      If(EqualTo(o(0), Literal(0.0)), younger, If(EqualTo(y(0), Literal(0.0)), older, j))
    }
  }

  private lazy val length = Literal(TimeAxis.number(span, time.dataType))

  private def ofSpan(distance: Expression): Expression = Doubles.quotient(distance, length)

  override lazy val evaluateExpression: Expression = {
    val before = ofSpan(beforeOldest)
    def weighted(all: Expression, moved: Expression) = plus(TimeAxis.area(all, before), moved)
    val total = weighted(sum, movedSum)
    If(
      EqualTo(rows, Literal(0.0)),
      OwnMonoidAggregate.nothing(DoubleType),
      if (isMean) mean(total, weighted(rows, movedRows)) else total
    )
  }

  /** The time from the window's beginning to its oldest row, if no row is older than the span. */
  private def beforeOldest: Expression = StaticInvoke(
    LinearWeightsSpan.getClass,
    DoubleType,
    "before",
    Seq(length, Doubles.distance(oldest, youngest), Literal(prettyName)),
    returnNullable = false
  )

  override protected def withNewChildrenInternal(
      x: Expression,
      t: Expression,
      s: Expression
  ): LinearWeights = copy(value = x, time = t, span = s)
}

/** Generated code calls this method. */
private[sash] object LinearWeightsSpan {

  /** How far a row may be beyond the span by rounding, since the frame measures exactly. */
  private val Slack = 1e-9

  def before(
      span: Double,
      oldest: Double,
      function: org.apache.spark.unsafe.types.UTF8String
  ): Double =
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

private[sash] object LinearWeights {
  private def function(
      name: String,
      does: String,
      example: String,
      note: Seq[String],
      isMean: Boolean
  ): SashFunction = SashFunction(
    name,
    does,
    Seq(
      "x" -> "a number, taken as a DOUBLE",
      "ts" -> "the time, a timestamp, a date or a number",
      "span" -> ("the age at which a row's weight is 0: a constant interval, as in '1 hour', " +
        "or a number if `ts` is one")
    ),
    Seq(
      "SELECT ts, _FUNC_(x, ts, 4) OVER (ORDER BY ts RANGE 4 PRECEDING) FROM VALUES (0, 6.0), " +
        "(2, 3.0), (6, 1.0) AS t(ts, x)" -> example
    ),
    Seq(
      "The youngest row of the window weighs 1. A row weighs the less the older it is, and at",
      "the age of `span` it weighs 0. A row that is older still is an error: the window is at",
      "most as long as `span`. A day has 24 hours; where clocks change, a RANGE of a day may",
      "hold 25, and wants a span of as many. Rows in which `x` or `ts` is NULL are skipped; NULL",
      "over no rows."
    ) ++ note,
    classOf[LinearWeights]
  ) { case Seq(x, ts, span) => LinearWeights(x, ts, IntervalText.of(name, "span", span), isMean) }

  private[spark] val Mean: SashFunction = function(
    "linear_weighted_avg",
    "Returns the mean in which a value weighs the less the older it is, in a line.",
    "0\t6.0\n2\t4.0\n6\t1.0",
    Nil,
    isMean = true
  )

  private[spark] val Sum: SashFunction = function(
    "linear_weighted_sum",
    "Returns the sum in which a value weighs the less the older it is, in a line.",
    "0\t6.0\n2\t6.0\n6\t1.0",
    Seq(
      "The sum over a span less the sum over its half has the weights of a triangle, which peaks",
      "in the middle of the span."
    ),
    isMean = false
  )
}
