package io.sash.spark.names

import org.apache.spark.sql.catalyst.expressions.aggregate.Product

import io.sash.spark.aggregates._
import io.sash.spark.base.SashFunction
import io.sash.spark.lambdas.MonoidCall

/** All aggregates that Sash adds to SQL. docs/functions.md is generated from this list. */
private[spark] object AllSashFunctions {

  /** Spark has this aggregate for DataFrames alone. */
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

  /** The functions by topic. */
  val Topics: Seq[(String, Seq[SashFunction])] = Seq(
    "Means and spread" -> Seq(
      GeometricMean.function,
      product,
      ValueRange.function,
      RelativeVariation.function,
      CoefficientOfVariation.function
    ),
    "Extremes and their rows" -> Seq(
      MaxCount.function,
      MinCount.function,
      ArgMax.function,
      ArgMin.function
    ),
    "Weights that decay" -> Seq(
      EwmMean.function,
      EwmMeanByRows.function,
      Ema.function,
      DecayedSum.function,
      DecayedCount.function,
      TimeWeightedAvg.function,
      LinearWeightedAvg.function,
      LinearWeightedSum.function
    ),
    "Time series and events" -> Seq(
      M4.function,
      LongestIncreasingRun.function,
      Funnel.function,
      CounterIncrease.function,
      CounterRate.function,
      Cusum.function
    ),
    "Lists of n values" -> Seq(
      FirstN.function,
      LastN.function,
      LastDistinctN.function,
      MaxN.function,
      MinN.function,
      MaxNBy.function,
      MinNBy.function
    ),
    "Counts by value" -> Seq(
      ValueCounts.function,
      TopCounts.function,
      Entropy.function,
      ModeShare.function
    ),
    "Ranks in a frame" -> RankKind.All.map(_.function),
    "Aggregates of your own" -> Seq(MonoidCall.Function)
  )

  val All: Seq[SashFunction] = Topics.flatMap { case (_, functions) => functions }
}
