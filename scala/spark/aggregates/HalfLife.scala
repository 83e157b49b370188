package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types.DoubleType

import io.sash.spark.base.ArgumentChecks
import io.sash.spark.times.IntervalText

/** Weights that halve in each half-life. */
private[aggregates] final class HalfLife(length: Expression, time: Expression) {
  private val rate = Literal(math.log(2) / TimeAxis.number(length, time.dataType))

  /** The factor by which weights fall from one time to a later one. */
  def decay(from: Expression, to: Expression): Expression = call("factor", from, to)

  /** A sum times the factor by which weights fall from one time to a later one. */
  def aged(sum: Expression, from: Expression, to: Expression): Expression =
    call("aged", sum, from, to)

  private def call(method: String, arguments: Expression*): Expression =
    StaticInvoke(Decay.getClass, DoubleType, method, arguments :+ rate, returnNullable = false)
}

/** The last two arguments are the time and the half-life. */
private[aggregates] trait OfHalfLife extends MonoidKind {
  override protected def read(arguments: Seq[Expression]): Seq[Expression] =
    arguments.init :+ IntervalText.of(name, "half_life", arguments.last)

  override def check(arguments: Seq[Expression]): TypeCheckResult = {
    val Seq(ts, halfLife) = arguments.takeRight(2)
    ArgumentChecks.inTurn(
      TimeAxis.check("ts", ts),
      TimeAxis.checkDistance("half_life", halfLife, ts)
    )
  }

  protected final def weightsOf(arguments: Seq[Expression]): HalfLife = {
    val Seq(ts, halfLife) = arguments.takeRight(2)
    new HalfLife(halfLife, ts)
  }
}

/** Generated code calls these methods. */
private[sash] object Decay {

  /** Equal times have the factor 1, even if both are infinite; so has an infinite half-life. */
  def factor(from: Double, to: Double, rate: Double): Double =
    if (from == to || rate == 0.0) 1.0 else math.exp((from - to) * rate)

  /**
   * Applies a factor that is too small for a double in two steps: the product may be a double.
   */
  def aged(sum: Double, from: Double, to: Double, rate: Double): Double = {
    val whole = factor(from, to, rate)
    if (whole >= java.lang.Double.MIN_NORMAL) DoubleArithmetic.weighted(sum, whole)
    else {
      val half = math.exp((from - to) * rate / 2)
      DoubleArithmetic.weighted(DoubleArithmetic.weighted(sum, half), half)
    }
  }
}
