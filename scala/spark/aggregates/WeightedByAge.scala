package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.trees.{BinaryLike, TernaryLike}
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}
import io.sash.spark.kinds.IntervalText

/** A mean in which a value's weight falls exponentially. */
private[sash] abstract class WeightedByAge private[aggregates]
    extends OwnMonoidAggregate
    with ImplicitCastInputTypes {
  protected def number(name: String): AttributeReference =
    AttributeReference(name, DoubleType, nullable = false)()

  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true

  protected def times(x: Expression, y: Expression): Expression = new Multiply(x, y)
  protected def plus(x: Expression, y: Expression): Expression = new Add(x, y)

  protected def mean(sum: Expression, weight: Expression): Expression = If(
    EqualTo(weight, Literal(0.0)),
    OwnMonoidAggregate.nothing(DoubleType),
    Doubles.quotient(sum, weight)
  )
}

/** Weights that halve in each half-life. */
private[sash] abstract class HalvedByTime private[aggregates] extends WeightedByAge {
  def halfLife: Expression
  def time: Expression

  /** The half-life's name among the arguments. */
  protected def halfLifeName: String

  override final def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    TimeAxis.check("ts", time),
    TimeAxis.checkDistance(halfLifeName, halfLife, time),
    super.checkInputDataTypes()
  )

  private lazy val rate = Literal(math.log(2) / TimeAxis.number(halfLife, time.dataType))

  /** The factor by which weights fall from one time to a later one. */
  protected final def decay(from: Expression, to: Expression): Expression =
    call("factor", from, to, rate)

  /** A sum times that factor. */
  protected final def aged(sum: Expression, from: Expression, to: Expression): Expression =
    call("aged", sum, from, to, rate)

  private def call(method: String, arguments: Expression*): Expression =
    StaticInvoke(Decay.getClass, DoubleType, method, arguments, returnNullable = false)
}

/** A value with a weight that halves in each half-life. */
private[sash] abstract class WeightedByTime private[aggregates]
    extends HalvedByTime
    with TernaryLike[Expression] {
  def value: Expression

  override final def first: Expression = value
  override final def second: Expression = halfLife
  override final def third: Expression = time
  override final def inputTypes: Seq[DataType] =
    Seq(DoubleType, halfLife.dataType, time.dataType)
  override protected def required: Seq[Expression] = Seq(value, time)
}

/**
 * By time: a weight halves in each half-life. The sums are those at the time of the youngest row,
 * so two parts combine at the later of their times, in any order.
 */
private[sash] final case class EwmMean(value: Expression, halfLife: Expression, time: Expression)
    extends WeightedByTime {
  private lazy val youngest = number("youngest") // -Infinity over no rows
  private lazy val sum = number("sum")
  private lazy val weight = number("weight")

  override def prettyName: String = EwmByRows.Function.name
  override protected def halfLifeName: String = "decay"

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(youngest, sum, weight)
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal(Double.NegativeInfinity), Literal(0.0), Literal(0.0))
  override protected def lift: Seq[Expression] =
    Seq(TimeAxis.number(time, prettyName), value, Literal(1.0))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val at = Greatest(Seq(o(0), y(0)))
    def both(i: Int): Expression = {
      val aged = Seq(o, y).map(part => Doubles.weighted(part(i), decay(part(0), at)))
      plus(aged(0), aged(1))
    }
    Seq(at, both(1), both(2))
  }

  override lazy val evaluateExpression: Expression = mean(sum, weight)

  override protected def withNewChildrenInternal(
      x: Expression,
      h: Expression,
      t: Expression
  ): EwmMean = copy(value = x, halfLife = h, time = t)
}

/**
 * By rows: each row makes all older weights smaller by the factor 1 - alpha. The sums are as of
 * the youngest row that has a value, whose weight is 1. So they stay as they are while
 * NULLs follow, however many. The factors of the rows until then, and of the rows since then, are
 * beside them.
 */
private[sash] final case class EwmByRows(value: Expression, alpha: Expression)
    extends WeightedByAge
    with BinaryLike[Expression] {
  private lazy val sum = number("sum")
  private lazy val weight = number("weight") // 0 without a value, else at least 1
  private lazy val until = number("until") // 1 without a value
  private lazy val since = number("since")

  private lazy val share = Cast(alpha, DoubleType).eval().asInstanceOf[Double]

  override def left: Expression = value
  override def right: Expression = alpha
  override def prettyName: String = EwmByRows.Function.name
  override def inputTypes: Seq[DataType] = Seq(DoubleType, alpha.dataType)

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    ArgumentChecks.checkShare("decay", alpha),
    super.checkInputDataTypes()
  )

  override lazy val aggBufferAttributes: Seq[AttributeReference] =
    Seq(sum, weight, until, since)
  override lazy val initialValues: Seq[Expression] = Seq(0.0, 0.0, 1.0, 1.0).map(Literal(_))
  override protected def required: Seq[Expression] = Nil // a NULL ages the rows before it

  override protected def lift: Seq[Expression] = {
    val ofRow = Literal(1.0 - share)
    val one = Literal(1.0)
    Seq(
      Coalesce(Seq(value, Literal(0.0))),
      If(IsNull(value), Literal(0.0), one),
      If(IsNull(value), one, ofRow),
      If(IsNull(value), ofRow, one)
    )
  }

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val factor = times(o(3), y(2))
    val joined = Seq(
      plus(aged(o(0), factor), y(0)),
      plus(times(o(1), factor), y(1)),
      times(o(2), factor),
      y(3)
    )
    val sameValue = o.take(3) :+ times(o(3), y(3))
    OwnMonoidAggregate.pick(EqualTo(y(1), Literal(0.0)), (joined, sameValue))
  }

  /** Without a weight an infinite sum leaves nothing: alpha is 1. */
  private def aged(sum: Expression, factor: Expression): Expression =
    if (share == 1.0) Literal(0.0) else Doubles.weighted(sum, factor)

  override lazy val evaluateExpression: Expression = mean(sum, weight)

  override protected def withNewChildrenInternal(x: Expression, a: Expression): EwmByRows =
    copy(value = x, alpha = a)
}

private[sash] object EwmByRows {
  private[spark] val Function: SashFunction = SashFunction(
    "ewm_mean",
    "Returns the mean in which a value weighs the less the older it is, exponentially.",
    Seq(
      "x" -> "a number, taken as a DOUBLE",
      "decay" -> ("with `ts` the half-life: a constant interval, as in '1 hour', or a number " +
        "if `ts` is one. Without `ts` alpha: the share, at most 1, by which a row takes weight " +
        "from all before it"),
      "ts" -> "the time, a timestamp, a date or a number"
    ),
    Seq(
      "SELECT ts, _FUNC_(x, 2, ts) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0), " +
        "(2, 3.0) AS t(ts, x)" -> "0\t6.0\n2\t4.0",
      "SELECT ts, _FUNC_(x, 0.5) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0), (2, " +
        "3.0) AS t(ts, x)" -> "0\t6.0\n2\t4.0"
    ),
    Seq(
      "The same as pandas' `ewm(halflife, times)` and `ewm(alpha)`, which have adjust=True.",
      "Weights are relative to the youngest row of the window, so the answer does not depend on",
      "the present time. A day has 24 hours. Rows in which `x` or `ts` is NULL are skipped; by",
      "rows a NULL ages the rows before it. NULL over no rows."
    ),
    classOf[EwmByRows],
    optional = 1
  ) {
    case Seq(x, decay, ts) => EwmMean(x, IntervalText.of("ewm_mean", "decay", decay), ts)
    case Seq(x, decay)     => EwmByRows(x, decay)
  }
}

/**
 * The exponential moving average by the recursion s = s · d + x · (1 - d), where d is the decay
 * since the row before, and s is x in the first row. Over several rows the step is a function
 * s -> slope · s + offset of the average at their first row.
 */
private[sash] final case class Ema(value: Expression, halfLife: Expression, time: Expression)
    extends WeightedByTime {
  private lazy val isEmpty = AttributeReference("empty", BooleanType, nullable = false)()
  private lazy val oldest = number("oldest")
  private lazy val youngest = number("youngest")
  private lazy val start = number("start")
  private lazy val slope = number("slope")
  private lazy val offset = number("offset")

  override def prettyName: String = Ema.Function.name
  override protected def halfLifeName: String = "half_life"

  override lazy val aggBufferAttributes: Seq[AttributeReference] =
    Seq(isEmpty, oldest, youngest, start, slope, offset)
  override lazy val initialValues: Seq[Expression] =
    Literal(true) +: Seq(0.0, 0.0, 0.0, 1.0, 0.0).map(Literal(_))
  override protected def lift: Seq[Expression] = {
    val at = TimeAxis.number(time, prettyName)
    Seq(Literal(false), at, at, value, Literal(1.0), Literal(0.0))
  }

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val Seq(_, oldestOfAll, before, first, slopeBefore, offsetBefore) = o
    val Seq(_, after, youngestOfAll, entering, slopeAfter, offsetAfter) = y
    val d = decay(before, after)
    val moved =
      plus(
        Doubles.weighted(offsetBefore, d),
        TimeAxis.area(entering, new Subtract(Literal(1.0), d))
      )
    val joined = Seq(
      Literal(false),
      oldestOfAll,
      youngestOfAll,
      first,
      times(times(slopeAfter, d), slopeBefore),
      plus(Doubles.weighted(moved, slopeAfter), offsetAfter)
    )
    joined.zip(o.zip(y)).map { case (j, (older, younger)) =>
      If(o.head, younger, If(y.head, older, j))
    }
  }

  override lazy val evaluateExpression: Expression =
    If(
      isEmpty,
      OwnMonoidAggregate.nothing(DoubleType),
      plus(Doubles.weighted(start, slope), offset)
    )

  override protected def withNewChildrenInternal(
      x: Expression,
      h: Expression,
      t: Expression
  ): Ema = copy(value = x, halfLife = h, time = t)
}

private[sash] object Ema {
  private[spark] val Function: SashFunction = SashFunction(
    "ema",
    "Returns the exponential moving average by time: each row moves it towards its value, by a " +
      "share that grows with the time since the row before.",
    Seq(
      "x" -> "a number, taken as a DOUBLE",
      "half_life" -> ("the time after which half of an old average is left: a constant " +
        "interval, as in '1 hour', or a number if `ts` is one"),
      "ts" -> "the time, by which the window is ordered: a timestamp, a date or a number"
    ),
    Seq(
      "SELECT ts, _FUNC_(x, 2, ts) OVER (ORDER BY ts ROWS 9 PRECEDING) FROM VALUES (0, 6.0), " +
        "(2, 3.0), (4, 3.0) AS t(ts, x)" -> "0\t6.0\n2\t4.5\n4\t3.75"
    ),
    Seq(
      "In the window's first row the average is its value. `ewm_mean` has weights that are",
      "corrected for the beginning. A day has 24 hours. Rows in which `x` or `ts` is NULL are",
      "skipped; NULL over no rows. The rows are taken in the window's order; a group of GROUP BY",
      "has none."
    ),
    classOf[Ema]
  ) { case Seq(x, halfLife, ts) =>
    Ema(x, IntervalText.of("ema", "half_life", halfLife), ts)
  }
}

/** Generated code calls these methods. */
private[sash] object Decay {

  /** Times that are equal have the factor 1, also if both are infinite; no half-life ends. */
  def factor(from: Double, to: Double, rate: Double): Double =
    if (from == to || rate == 0.0) 1.0 else math.exp((from - to) * rate)

  /** A factor that is too small for a double comes in two halves: the product may be a double. */
  def aged(sum: Double, from: Double, to: Double, rate: Double): Double = {
    val whole = factor(from, to, rate)
    if (whole >= java.lang.Double.MIN_NORMAL) DoubleArithmetic.weighted(sum, whole)
    else {
      val half = math.exp((from - to) * rate / 2)
      DoubleArithmetic.weighted(DoubleArithmetic.weighted(sum, half), half)
    }
  }
}
