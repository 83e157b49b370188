package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.DoubleType

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
private[spark] case object Cusum extends OfDouble {
  private val NoRows = Double.NegativeInfinity // else `total` is 0 or more, or NaN

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val x = arguments.head
    MonoidParts(
      arguments,
      Seq(
        OneCell.number("sum", x),
        OneCell.number("total", Greatest(Seq(Literal(0.0), x)), NoRows)
      ),
      combine = { case (Seq(olderSum, olderTotal), Seq(sum, total)) =>
        Seq(
          call("sumOf", olderSum, sum),
          Greatest(Seq(call("after", olderTotal, sum), total))
        )
      },
      lower = { case Seq(_, total) =>
        If(EqualTo(total, Literal(NoRows)), nothing(DoubleType), total)
      }
    )
  }

  private def call(method: String, x: Expression, y: Expression): Expression =
    StaticInvoke(CusumSteps.getClass, DoubleType, method, Seq(x, y), returnNullable = false)

  override val function: SashFunction = described("cusum")("""
    Returns the sum that begins at 0 and stays there where it would fall below it: the
    cumulative sum of control charts.

    * x - a number, taken as a DOUBLE: how far a value lies above its target

    > SELECT ts, _FUNC_(x) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM VALUES (1, 2), (2, -5),
      (3, 1), (4, 3) AS t(ts, x);
    1  2.0
    2  0.0
    3  1.0
    4  4.0

    `cusum(x - target - slack)` watches for a rise, `cusum(target - slack - x)` for a fall.
    The rows are taken in the window's order; a group of GROUP BY has none. NULLs are
    skipped; NULL over no rows. A sum that resets where a condition holds is `sum` over a
    `punctuation_window`.
  """)
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
