package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction

/**
 * A sum that begins at 0 and never falls below it: s = max(0, s + x). Over several rows the step
 * is a function s -> max(s + sum, total), for the sums s from 0 to Infinity. Here `total` is its
 * value at 0, and the composition of two such functions is a third.
 *
 * Invariants, with values that are not finite:
 *   - (I1) `total` is the plain recomputation of the part's own rows. A NaN in them makes it NaN,
 *     as does a -Infinity after an Infinity. Then it stays NaN.
 *   - (I2) `sum` is -Infinity if and only if a row is. So the step turns Infinity into NaN, and
 *     every finite sum into `total`. Finite sums never add up to -Infinity.
 */
private[sash] final case class Cusum(child: Expression)
    extends OwnMonoidAggregate
    with UnaryLike[Expression]
    with ImplicitCastInputTypes {
  import OwnMonoidAggregate._

  private lazy val sum = AttributeReference("sum", DoubleType, nullable = false)()

  /** -Infinity over no rows; else 0 or more, or NaN. */
  private lazy val total = AttributeReference("total", DoubleType, nullable = false)()

  override def prettyName: String = Cusum.Function.name
  override def inputTypes: Seq[DataType] = Seq(DoubleType)
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(sum, total)
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal(0.0), Literal(Double.NegativeInfinity))
  override protected def required: Seq[Expression] = Seq(child)
  override protected def lift: Seq[Expression] =
    Seq(child, Greatest(Seq(Literal(0.0), child)))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = Seq(
    call("sumOf", o(0), y(0)),
    Greatest(Seq(call("after", o(1), y(0)), y(1)))
  )

  private def call(method: String, x: Expression, y: Expression): Expression =
    StaticInvoke(CusumSteps.getClass, DoubleType, method, Seq(x, y), returnNullable = false)

  override lazy val evaluateExpression: Expression =
    If(EqualTo(total, Literal(Double.NegativeInfinity)), nothing(DoubleType), total)

  override protected def withNewChildInternal(newChild: Expression): Cusum =
    copy(child = newChild)
}

private[sash] object Cusum {
  private[spark] val Function: SashFunction = SashFunction(
    "cusum",
    "Returns the sum that begins at 0 and stays there where it would fall below it: the " +
      "cumulative sum of control charts.",
    Seq("x" -> "a number, taken as a DOUBLE: how far a value lies above its target"),
    Seq(
      "SELECT ts, _FUNC_(x) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM VALUES (1, 2), (2, -5), " +
        "(3, 1), (4, 3) AS t(ts, x)" -> "1\t2.0\n2\t0.0\n3\t1.0\n4\t4.0"
    ),
    Seq(
      "`cusum(x - target - slack)` watches for a rise, `cusum(target - slack - x)` for a fall. " +
        "The",
      "rows are taken in the window's order; a group of GROUP BY has none. NULLs are skipped; " +
        "NULL",
      "over no rows. A sum that resets where a condition holds is `sum` over a",
      "`punctuation_window`."
    ),
    classOf[Cusum]
  ) { case Seq(x) => Cusum(x) }
}

/** Generated code calls these methods. */
private[sash] object CusumSteps {

  /** The sum of two parts (I2). */
  def sumOf(older: Double, younger: Double): Double =
    if (older == Double.NegativeInfinity || younger == Double.NegativeInfinity)
      Double.NegativeInfinity
    else Math.max(-Double.MaxValue, older + younger) // keeps a NaN

  /** The older part's total after the younger rows; none if the older part has no rows. */
  def after(total: Double, sum: Double): Double =
    if (total == Double.NegativeInfinity) total else total + sum
}
