package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.kinds.IntervalText

/**
 * The sum of values that each halve in each half-life, as of the latest time of all rows. A row
 * whose value is NULL adds nothing, and its time is one of them. Two parts combine at the later
 * of their times, in any order.
 */
private[sash] final case class DecayedSum(
    value: Expression,
    halfLife: Expression,
    time: Expression
) extends WeightedByTime {
  private lazy val latest = number("latest") // -Infinity over no rows
  private lazy val sum = number("sum")
  private lazy val isEmpty = AttributeReference("empty", BooleanType, nullable = false)()

  override def prettyName: String = HalvingWeights.Sum.name
  override protected def halfLifeName: String = "half_life"
  override protected def required: Seq[Expression] = Seq(time)

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(latest, sum, isEmpty)
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal(Double.NegativeInfinity), Literal(0.0), Literal(true))
  override protected def lift: Seq[Expression] =
    Seq(TimeAxis.number(time, prettyName), Coalesce(Seq(value, Literal(0.0))), IsNull(value))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val at = Greatest(Seq(o(0), y(0)))
    Seq(at, plus(aged(o(1), o(0), at), aged(y(1), y(0), at)), And(o(2), y(2)))
  }

  override lazy val evaluateExpression: Expression =
    If(isEmpty, OwnMonoidAggregate.nothing(DoubleType), sum)

  override protected def withNewChildrenInternal(
      x: Expression,
      h: Expression,
      t: Expression
  ): DecayedSum = copy(value = x, halfLife = h, time = t)
}

/** The number of rows, each with a weight that halves in each half-life. */
private[sash] final case class DecayedCount(halfLife: Expression, time: Expression)
    extends HalvedByTime
    with BinaryLike[Expression] {
  private lazy val latest = number("latest") // -Infinity over no rows
  private lazy val weight = number("weight")

  override def left: Expression = halfLife
  override def right: Expression = time
  override def nullable: Boolean = false
  override lazy val defaultResult: Option[Literal] = Some(Literal(0.0))
  override def prettyName: String = HalvingWeights.Count.name
  override protected def halfLifeName: String = "half_life"
  override def inputTypes: Seq[DataType] = Seq(halfLife.dataType, time.dataType)
  override protected def required: Seq[Expression] = Seq(time)

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(latest, weight)
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal(Double.NegativeInfinity), Literal(0.0))
  override protected def lift: Seq[Expression] =
    Seq(TimeAxis.number(time, prettyName), Literal(1.0))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val at = Greatest(Seq(o(0), y(0)))
    Seq(at, plus(aged(o(1), o(0), at), aged(y(1), y(0), at)))
  }

  override lazy val evaluateExpression: Expression = weight

  override protected def withNewChildrenInternal(h: Expression, t: Expression): DecayedCount =
    copy(halfLife = h, time = t)
}

private[sash] object HalvingWeights {
  private val halfLife = "half_life" -> ("the age at which a weight is a half: a constant " +
    "interval, as in '1 hour', or a number if `ts` is one")
  private val ts = "ts" -> "the time, a timestamp, a date or a number"

  private[spark] val Sum: SashFunction = SashFunction(
    "decayed_sum",
    "Returns the sum in which a value weighs the less the older it is, exponentially.",
    Seq("x" -> "a number, taken as a DOUBLE", halfLife, ts),
    Seq(
      "SELECT ts, _FUNC_(x, 2, ts) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0), " +
        "(2, 3.0), (4, NULL) AS t(ts, x)" -> "0\t6.0\n2\t6.0\n4\t3.0"
    ),
    Seq(
      "A weight is 2^(-age / `half_life`). An age is the time from its row to the latest `ts` of",
      "the window, so the answer does not depend on the present time. A NULL in `x` adds",
      "nothing, but its row's time counts. A condition stands in the value, as in",
      "`decayed_sum(IF(paid, x, NULL), …)`; FILTER leaves out the row's time, too. Rows in which",
      "`ts` is NULL are skipped; NULL over no values. A day has 24 hours. `ewm_mean` is the mean",
      "with these weights."
    ),
    classOf[DecayedSum]
  ) { case Seq(x, h, t) => DecayedSum(x, IntervalText.of("decayed_sum", "half_life", h), t) }

  private[spark] val Count: SashFunction = SashFunction(
    "decayed_count",
    "Returns the number of rows, in which a row weighs the less the older it is, exponentially.",
    Seq(halfLife, ts),
    Seq(
      "SELECT ts, _FUNC_(2, ts) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0), (2), (4) " +
        "AS t(ts)" -> "0\t1.0\n2\t1.5\n4\t1.75"
    ),
    Seq(
      "`decayed_sum` has the same weights, and `decayed_sum(IF(c, 1, 0), …)` counts the rows in",
      "which `c` holds. Rows in which `ts` is NULL are skipped; 0.0 over no rows."
    ),
    classOf[DecayedCount]
  ) { case Seq(h, t) => DecayedCount(IntervalText.of("decayed_count", "half_life", h), t) }
}
