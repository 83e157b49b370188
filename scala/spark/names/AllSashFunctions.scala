package io.sash.spark.names

import org.apache.spark.sql.catalyst.expressions.aggregate.Product

import io.sash.spark.aggregates._
import io.sash.spark.base.SashFunction
import io.sash.spark.lambdas.MonoidCall

/** All aggregates that Sash adds to SQL. docs/functions.md is generated from this list. */
private[spark] object AllSashFunctions {

  /** Spark has this aggregate, too, but for DataFrames only. */
  private val product: SashFunction = SashFunction.of(
    "product",
    """
    Returns the product of the values.

    * x - a number, taken as a DOUBLE

    > SELECT _FUNC_(col) FROM VALUES (2), (3), (NULL) AS tab(col);
    6.0

    The aggregate of `pyspark.sql.functions.product`, which SQL lacks. NULLs are skipped;
    NULL over no rows.
    """,
    classOf[Product]
  ) { case Seq(x) => Product(x) }

  val All: Seq[SashFunction] = Seq(
    GeometricMean.function,
    product,
    MaxCount.function,
    MinCount.function,
    ArgMax.function,
    ArgMin.function,
    ValueRange.function,
    RelativeVariation.function,
    CoefficientOfVariation.function,
    M4.function,
    LongestIncreasingRun.function,
    Funnel.function,
    CounterIncrease.function,
    CounterRate.function,
    Cusum.function,
    EwmMean.function,
    EwmMeanByRows.function,
    Ema.function,
    DecayedSum.function,
    DecayedCount.function,
    TimeWeightedAvg.function,
    LinearWeightedAvg.function,
    LinearWeightedSum.function,
    FirstN.function,
    LastN.function,
    LastDistinctN.function,
    MaxN.function,
    MinN.function,
    MaxNBy.function,
    MinNBy.function,
    ValueCounts.function,
    TopCounts.function,
    Entropy.function,
    ModeShare.function
  ) ++ RankKind.All.map(_.function) :+ MonoidCall.Function
}
