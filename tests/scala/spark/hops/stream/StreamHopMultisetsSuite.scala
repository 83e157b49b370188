package io.sash.spark.hops.stream

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{StreamSuite, Thorough}

/** Hop windows of a stream whose answers come from all of their values. */
@Slow
class StreamHopMultisetsSuite extends StreamSuite {

  private def hops(window: String, aggregates: Seq[String])(rows: DataFrame): DataFrame =
    sql(
      s"SELECT unix_micros(window.start) * 8 + coalesce(k, 7) AS id, window, ${aggregates.zipWithIndex.map { case (a, i) => s"$a AS a$i" }.mkString(", ")}" +
        s" FROM events GROUP BY k, $window"
    )(rows)

  /** Aggregates that Spark refuses on a stream, and expressions of the same values. */
  private val refused = Seq(
    "count(DISTINCT x)" -> "CAST(size(collect_set(x)) AS BIGINT)",
    "count(DISTINCT x % 3) FILTER (WHERE d > 50)" ->
      "CAST(size(collect_set(x % 3) FILTER (WHERE d > 50)) AS BIGINT)",
    "sum(DISTINCT x)" ->
      "IF(count(x) = 0, NULL, aggregate(collect_set(x), 0L, (a, b) -> a + b))",
    "count(DISTINCT x, s)" ->
      "CAST(size(collect_set(IF(x IS NULL OR s IS NULL, NULL, struct(x, s)))) AS BIGINT)",
    "max(DISTINCT x)" -> "max(x)"
  )

  private val others = Seq("median(d)", "mode() WITHIN GROUP (ORDER BY x)", "sum(x)", "max(s)")

  for {
    (window, name) <- Seq(
      "window(ts, '24 seconds', '2 seconds')" -> "many panes",
      "window(ts, '30 seconds', '7 seconds', '3 seconds')" -> "an own start"
    )
    mode <- Seq(OutputMode.Append(), OutputMode.Update())
  } test(s"DISTINCT, medians and sums of a stream: $name, $mode", each(4): _*) {
    val batches = StreamSuite.batches(5, count = 3, size = 40, jitterSeconds = 40, keys = 2)
    streaming()(
      checkHops(
        batches,
        mode = mode,
        alike = Seq(hops(window, refused.map(_._1) ++ others))
      )(hops(window, refused.map(_._2) ++ others))
    )
  }

  for (
    call <- Seq(
      "percentile(d, array(0.1, 0.9))",
      "sort_array(collect_set(s))",
      "percentile_disc(0.4) WITHIN GROUP (ORDER BY x)",
      "entropy(s)",
      "top_counts(x, 2)",
      "value_counts(x)"
    )
  ) test(s"a stream's panes answer $call", each(6): _*) {
    streaming()(
      checkHops(StreamSuite.batches(6, count = 3, size = 40, jitterSeconds = 40, keys = 2))(
        hops("window(ts, '20 seconds', '5 seconds')", Seq(call, "count(x)"))
      )
    )
  }

  for (seed <- 1 to 4) test(s"random hops of a stream, seed $seed", Thorough) {
    val rng = new Random(seed)
    val slide = 1 + rng.nextInt(9)
    val size = slide + 1 + rng.nextInt(40)
    val some = rng.shuffle(refused ++ others.map(o => o -> o)).take(4)
    val mode = if (rng.nextBoolean()) OutputMode.Append() else OutputMode.Update()
    val window = s"window(ts, '$size seconds', '$slide seconds', '${rng.nextInt(slide)} seconds')"
    streaming()(
      checkHops(
        StreamSuite.batches(seed, count = 5, size = 50, jitterSeconds = 50, keys = 2),
        delay = s"${rng.nextInt(30)} seconds",
        mode = mode,
        alike = Seq(hops(window, some.map(_._1)))
      )(hops(window, some.map(_._2)))
    )
  }

  test("many rows of a pane in one batch, and in several") {
    val batches = StreamSuite.batches(7, count = 3, size = 700, jitterSeconds = 3, keys = 1)
    streaming()(
      checkHops(batches)(
        hops("window(ts, '20 minutes', '10 minutes')", Seq("median(d)", "sum(x)", "max(d)"))
      )
    )
  }

  test("in update mode only DISTINCT passes Spark's check of the query") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("0 seconds", checkpoint, OutputMode.Update())
      val above = intercept[AnalysisException](
        source.start(
          hops("window(ts, '20 seconds', '10 seconds')", Seq("count(DISTINCT x)"))(_)
            .groupBy("id")
            .count()
        )
      )
      assert(above.getMessage.contains("late rows"))
    })
  }

  test("another aggregate over a multiset is another state") {
    def text(call: String) =
      streaming()(
        textOf(hops("window(ts, '20 seconds', '10 seconds')", Seq(call)), OutputMode.Append())
      )
    val calls =
      Seq("count(DISTINCT x)", "count(x)", "sum(DISTINCT x)", "median(x)", "count(DISTINCT d)")
    assert(calls.map(text).distinct.length == calls.length)
    assert(text("count(DISTINCT x)").contains("recipe 1 (BINARY)"))
  }
}
