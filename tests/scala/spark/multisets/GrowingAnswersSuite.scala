package io.sash.spark.multisets

import io.sash.spark.{Explain, SashSuite}
import io.sash.spark.monoids.Refusal

/** Answers beside the slots, over frames that only grow. */
final class GrowingAnswersSuite extends SashSuite {
  private val rows =
    "(SELECT id, id % 3 AS k, id * 7 % 11 AS t, IF(id % 5 = 0, NULL, id * 13 % 17) " +
      "AS x, CAST(id * 13 % 17 / 4 AS DECIMAL(30, 2)) AS big FROM range(60))"

  private def over(call: String, frame: String) =
    s"SELECT id, $call OVER (PARTITION BY k ORDER BY $frame) AS a FROM $rows"

  private val frames = Seq(
    "id ROWS UNBOUNDED PRECEDING",
    "t, id",
    "t RANGE UNBOUNDED PRECEDING",
    "id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING",
    "id ROWS BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING",
    "t RANGE BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING"
  )

  private val calls = Seq(
    "percentile(x, 0.9)",
    "percentile(x, array(0.0, 0.5, 1.0))",
    "percentile(x, 0.9) FILTER (WHERE id % 2 = 0)",
    "mode(x, true)",
    "mode(CAST(x AS STRING), true)"
  )

  for (call <- calls; frame <- frames)
    test(s"$call, $frame", each(5): _*)(checkSlides(over(call, frame)))

  test("numbers that round to one double are interpolated as Spark interpolates them") {
    val shares = (0 to 50).map(_ / 50.0).mkString(", ")
    checkSlides(
      s"SELECT id, percentile(x, array($shares)) OVER (ORDER BY id ROWS 1 PRECEDING) AS a FROM " +
        "(SELECT id, CAST(0.1 + id * 0.000000000000000001 AS DECIMAL(18, 18)) AS x FROM range(6))"
    )
  }

  test("beside an aggregate whose partials lie in slots, and interpreted") {
    val both = s"SELECT id, percentile(x, 0.5) OVER w, mode(x, true) OVER w, sum(x) OVER w, " +
      s"sum(x) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING) FROM $rows " +
      "WINDOW w AS (PARTITION BY k ORDER BY id ROWS UNBOUNDED PRECEDING)"
    checkSlides(both)
    withSettings(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    )(checkSlides(both))
  }

  /** Spark refuses these, so plain percentiles and counts give the right answers. */
  private val refused = Seq(
    "median(x)" -> "percentile(x, 0.5)",
    "percentile_cont(0.9) WITHIN GROUP (ORDER BY x)" -> "percentile(x, 0.9)",
    "count(DISTINCT x)" -> "size(collect_set(x))"
  )

  for ((call, same) <- refused; frame <- frames) test(s"$call, $frame") {
    def wrapped(c: String) = if (c.startsWith("size")) s"size(a) AS a" else "a"
    val frameOf = spark.sql(over(call, frame))
    val other = same.stripPrefix("size(").replace("))", ")")
    val expected = withSash(enabled = false)(
      spark.sql(s"SELECT id, ${wrapped(same)} FROM (${over(other, frame)})").collect()
    )
    assert(sliding(frameOf).nonEmpty)
    assert(
      frameOf.collect().map(_.toString).sorted sameElements expected.map(_.toString).sorted
    )
  }

  test("a window of ten thousand rows keeps no row") {
    val query = "SELECT max(a) FROM (SELECT percentile(x, 0.5) OVER (ORDER BY x ROWS UNBOUNDED " +
      "PRECEDING) AS a FROM (SELECT id % 7 AS x FROM range(10000)))"
    val frame = spark.sql(query)
    frame.collect()
    val peak = sliding(frame).map(_.metrics("peakMemory").value).max
    assert(peak < (1L << 20), peak)
  }

  /** Answers for which all values are looked at again stay with Spark, and EXPLAIN says so. */
  private val left = Seq(
    "percentile(x, 0.9, 1 + id % 2)" -> Refusal.GrowingSorted,
    "percentile(big, 0.9)" -> Refusal.GrowingSorted,
    "mode(make_interval(0, 0, 0, CAST(x AS INT)))" -> Refusal.GrowingCounted,
    "collect_list(x)" -> Refusal.GrowingBuffer("collect_list"),
    "collect_set(x)" -> Refusal.GrowingBuffer("collect_set"),
    "percentile_approx(x, 0.5)" -> Refusal.GrowingBuffer("percentile_approx"),
    "approx_count_distinct(x)" -> Refusal.GrowingBuffer("approx_count_distinct"),
    "sum(x)" -> Refusal.Growing
  )

  for ((call, why) <- left) test(s"left to Spark: $call") {
    val frame = spark.sql(over(call, frames.head))
    assert(sliding(frame).isEmpty)
    val text = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
    assert(text.contains(why.reason), text)
    assert(frame.collect().length == 60)
  }
}
