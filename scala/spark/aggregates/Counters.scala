package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.{BinaryLike, UnaryLike}
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}

/**
 * The increase of a counter that falls when it restarts from 0. The partial aggregate has the
 * first and the last value, and the increase from the one to the other.
 */
private[sash] abstract class OfCounter private[aggregates]
    extends OwnMonoidAggregate
    with ImplicitCastInputTypes {
  import OwnMonoidAggregate._

  def counter: Expression

  protected lazy val first: AttributeReference = cell("first", DoubleType)
  protected lazy val last: AttributeReference = cell("last", DoubleType)
  protected lazy val increase: AttributeReference =
    AttributeReference("increase", DoubleType, nullable = false)()

  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(first, last, increase)
  override lazy val initialValues: Seq[Expression] =
    Seq(nothing(DoubleType), nothing(DoubleType), Literal(0.0))
  override protected def required: Seq[Expression] = Seq(counter)
  override protected def lift: Seq[Expression] = Seq(counter, counter, Literal(0.0))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val isReset = LessThan(y(0), o(1))
    val step = If(isReset, y(0), new Subtract(y(0), o(1)))
    val between = Coalesce(Seq(step, Literal(0.0))) // NULL beside a part without rows
    Seq(
      Coalesce(Seq(o(0), y(0))),
      Coalesce(Seq(y(1), o(1))),
      new Add(new Add(o(2), between), y(2))
    )
  }
}

private[sash] final case class CounterIncrease(child: Expression)
    extends OfCounter
    with UnaryLike[Expression] {
  override def counter: Expression = child
  override def prettyName: String = CounterIncrease.Function.name
  override def inputTypes: Seq[DataType] = Seq(DoubleType)
  override lazy val evaluateExpression: Expression =
    If(IsNull(first), OwnMonoidAggregate.nothing(DoubleType), increase)

  override protected def withNewChildInternal(newChild: Expression): CounterIncrease =
    copy(child = newChild)
}

private[sash] object CounterIncrease {
  private[spark] val Function: SashFunction = SashFunction(
    "counter_increase",
    "Returns by how much a counter has grown from the first row to the last, although it " +
      "restarts from 0.",
    Seq("x" -> "the counter's value, a number, taken as a DOUBLE"),
    Seq(
      "SELECT ts, _FUNC_(x) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM VALUES (1, 5), (2, 9), " +
        "(3, 1) AS t(ts, x)" -> "1\t0.0\n2\t4.0\n3\t5.0"
    ),
    Seq(
      "A value less than the one before it is a restart, and counts from 0. The rows are taken",
      "in the window's order; a group of GROUP BY has none, and the answer there depends on how",
      "its rows arrive. NULLs are skipped; 0 over one row, NULL over none. It is the increase of",
      "PromQL without its extrapolation to the ends of the window."
    ),
    classOf[CounterIncrease]
  ) { case Seq(x) => CounterIncrease(x) }
}

private[sash] final case class CounterRate(time: Expression, counter: Expression)
    extends OfCounter
    with BinaryLike[Expression] {
  import OwnMonoidAggregate._

  private lazy val firstTime = cell("first_time", DoubleType)
  private lazy val lastTime = cell("last_time", DoubleType)

  override def left: Expression = time
  override def right: Expression = counter
  override def prettyName: String = CounterRate.Function.name
  override def inputTypes: Seq[DataType] = Seq(time.dataType, DoubleType)

  override def checkInputDataTypes(): TypeCheckResult =
    ArgumentChecks.inTurn(TimeAxis.check("ts", time), super.checkInputDataTypes())

  override lazy val aggBufferAttributes: Seq[AttributeReference] =
    Seq(first, last, increase, firstTime, lastTime)
  override lazy val initialValues: Seq[Expression] =
    Seq.fill(2)(nothing(DoubleType)) ++ (Literal(0.0) +: Seq.fill(2)(nothing(DoubleType)))
  override protected def required: Seq[Expression] = Seq(time, counter)
  override protected def lift: Seq[Expression] =
    super.lift ++ Seq.fill(2)(TimeAxis.number(time, prettyName))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] =
    super.combine(o, y) ++ Seq(Coalesce(Seq(o(3), y(3))), Coalesce(Seq(y(4), o(4))))

  override lazy val evaluateExpression: Expression = {
    val span = TimeAxis.seconds(new Subtract(lastTime, firstTime), time.dataType)
    If(
      GreaterThan(lastTime, firstTime),
      Doubles.quotient(increase, span),
      nothing(DoubleType)
    )
  }

  override protected def withNewChildrenInternal(t: Expression, x: Expression): CounterRate =
    copy(time = t, counter = x)
}

private[sash] object CounterRate {
  private[spark] val Function: SashFunction = SashFunction(
    "counter_rate",
    "Returns by how much a counter has grown per second from the first row to the last, " +
      "although it restarts from 0.",
    Seq(
      "ts" -> "the time, a timestamp or a date; or a number, and then the rate is per 1 of it",
      "x" -> "the counter's value, a number, taken as a DOUBLE"
    ),
    Seq(
      "SELECT ts, _FUNC_(ts, x) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM VALUES (1, 5), (2, " +
        "9), (5, 3) AS t(ts, x)" -> "1\tNULL\n2\t4.0\n5\t1.75"
    ),
    Seq(
      "The increase of `counter_increase`, divided by the time between the first row and the",
      "last. Rows in which either is NULL are skipped; NULL where no time passes between them."
    ),
    classOf[CounterRate]
  ) { case Seq(ts, x) => CounterRate(ts, x) }
}
