package io.sash.spark.lambdas

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions

import io.sash.core.algebra.Aggregation
import io.sash.papers.algebra.{CoefficientOfVariation, Count, GeometricMean, MaxCount}
import io.sash.spark.SashSuite

/** Operations of the core as Spark's typed aggregators. */
class CoreAggregatorSuite extends SashSuite {
  private val values = (1 to 40).map(i => (i * 7 % 11) + 0.5)

  test("a typed aggregation of a Dataset says what core says") {
    val session = spark
    import session.implicits._
    val dataset = values.toDS().repartition(5)
    val row = dataset
      .select(
        CoreAggregator(GeometricMean).toColumn,
        CoreAggregator(CoefficientOfVariation).toColumn,
        CoreAggregator(MaxCount[Double]).toColumn
      )
      .head()
    assert(Math.abs(row._1 - GeometricMean.aggregate(values: _*)) < 1e-12)
    assert(Math.abs(row._2 - CoefficientOfVariation.aggregate(values: _*)) < 1e-12)
    assert(row._3 == MaxCount[Double].aggregate(values: _*))
    val none = dataset.filter(_ < 0).select(CoreAggregator(Count[Double]).toColumn)
    assert(none.head() == 0L)
  }

  test("an operation of one's own, registered for SQL") {
    val session = spark
    import session.implicits._
    object Longest extends Aggregation[String, String, Int] {
      override def identity: String = ""
      override def lift(in: String): String = in
      override def combine(o: String, y: String): String = if (y.length > o.length) y else o
      override def lower(agg: String): Int = agg.length
    }
    val longest = new CoreAggregator(Longest, Encoders.STRING, Encoders.scalaInt)
    spark.udf.register("longest_word", functions.udaf(longest))
    Seq(("a", "sash"), ("a", "slides"), ("b", "in"))
      .toDF("k", "w")
      .createOrReplaceTempView("words")
    val rows = spark.sql("SELECT k, longest_word(w) FROM words GROUP BY k ORDER BY k").collect()
    assert(rows.map(_.getInt(1)).toSeq == Seq(6, 2))
  }
}
