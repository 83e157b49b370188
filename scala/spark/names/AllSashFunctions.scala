package io.sash.spark.names

import org.apache.spark.sql.catalyst.expressions.aggregate.Product

import io.sash.spark.aggregates._
import io.sash.spark.base.SashFunction
import io.sash.spark.lambdas.MonoidCall

/** All aggregates that Sash adds to SQL. docs/functions.md is generated from this list. */
private[spark] object AllSashFunctions {

  /** Spark has this aggregate, too, but for DataFrames only. */
  private val product: SashFunction = SashFunction(
    "product",
    "Returns the product of the values.",
    Seq("x" -> "a number, taken as a DOUBLE"),
    Seq("SELECT _FUNC_(col) FROM VALUES (2), (3), (NULL) AS tab(col)" -> "6.0"),
    Seq(
      "The aggregate of `pyspark.sql.functions.product`. NULLs are skipped; NULL over no rows."
    ),
    classOf[Product]
  ) { case Seq(x) => Product(x) }

  val All: Seq[SashFunction] = Seq(
    GeometricMean.Function,
    GeometricMean.Function.as("geomean"),
    product,
    MaxCount.Function,
    MinCount.Function,
    ArgMax.Function,
    ArgMin.Function,
    ValueRange.Function,
    RelativeVariation.Function,
    CoefficientOfVariation.Function,
    M4.Function,
    LongestIncreasingRun.Function,
    Funnel.Function,
    CounterIncrease.Function,
    CounterRate.Function,
    Cusum.Function,
    EwmByRows.Function,
    Ema.Function,
    HalvingWeights.Sum,
    HalvingWeights.Count,
    TimeWeightedAvg.Function,
    LinearWeights.Mean,
    LinearWeights.Sum,
    FirstN.function,
    LastN.function,
    LastDistinctN.function,
    MaxN.function,
    MinN.function,
    MaxNBy.function,
    MinNBy.function
  ) ++ CountFunctions.All ++ RankFunctions.All :+ MonoidCall.Function
}
