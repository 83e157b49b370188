package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.CentralMomentAgg
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DoubleType

import io.sash.spark.base.SashFunction

/**
 * The coefficient of variation, stddev_samp(x) / avg(x). NULL if stddev_samp(x) is NULL. See
 * `io.sash.papers.algebra.CoefficientOfVariation`. Its cells are the count, the mean and the
 * moment of Spark's `stddev`.
 */
private[sash] final case class CoefficientOfVariation(
    child: Expression,
    nullOnDivideByZero: Boolean = !SQLConf.get.legacyStatisticalAggregate
) extends CentralMomentAgg(child, nullOnDivideByZero) {
  override protected def momentOrder: Int = 2
  override def prettyName: String = CoefficientOfVariation.function.name

  override lazy val evaluateExpression: Expression = {
    val deviation = Sqrt(Doubles.quotient(m2, new Subtract(n, Literal(1.0))))
    CaseWhen(
      Seq(
        EqualTo(n, Literal(0.0)) -> Literal.create(null, DoubleType),
        EqualTo(n, Literal(1.0)) -> divideByZeroEvalResult
      ),
      Doubles.quotient(deviation, avg)
    )
  }

  override protected def withNewChildInternal(newChild: Expression): CoefficientOfVariation =
    copy(child = newChild)
}

private[spark] object CoefficientOfVariation {
  val function: SashFunction = SashFunction.of(
    "coefficient_of_variation",
    """
    Returns the standard deviation relative to the mean: stddev_samp(x) / avg(x).

    * x - a number, taken as a DOUBLE

    > SELECT _FUNC_(col) FROM VALUES (2), (4), (6) AS tab(col);
    0.5

    A mean of 0 makes it infinite, or NaN if all values are 0. NULLs are skipped; NULL over
    fewer than two rows, as `stddev_samp`.
    """,
    classOf[CoefficientOfVariation]
  ) { case Seq(x) => CoefficientOfVariation(x) }
}
