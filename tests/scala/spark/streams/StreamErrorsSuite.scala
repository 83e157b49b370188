package io.sash.spark.streams

import org.apache.spark.sql.{AnalysisException, DataFrame, Encoders}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.OutputMode

import io.sash.spark.SashConf

/** What OVER on streams refuses, and how. */
class StreamErrorsSuite extends StreamSuite {

  private def events: DataFrame =
    MemoryStream[Event](Encoders.product[Event], spark).toDF()

  private def watermarked: DataFrame = events.withWatermark("ts", "1 minute")

  private def over(rows: DataFrame, call: String): DataFrame = {
    rows.createOrReplaceTempView("events")
    spark.sql(s"SELECT id, $call AS a FROM events")
  }

  for {
    (call, remedy) <- Seq(
      "sum(x) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING)" ->
        "id, the order, is not an event time with a watermark; ORDER BY ts, which has a watermark",
      "sum(x) OVER (PARTITION BY k)" -> "it has no order; ORDER BY ts",
      "sum(x) OVER (PARTITION BY k ORDER BY ts DESC ROWS 2 PRECEDING)" ->
        "a stream is ordered by ascending event time",
      "sum(x) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING)" ->
        "the bound 2 looks ahead of the row",
      "sum(x) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL 1 HOUR FOLLOWING)" ->
        "looks ahead of the row",
      "sum(x) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)" ->
        "looks ahead of the row",
      "rank() OVER (PARTITION BY k ORDER BY ts)" -> "rank is not an aggregate",
      "lead(x) OVER (PARTITION BY k ORDER BY ts)" -> "looks ahead of the row",
      "lag(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)" -> "lag is not an aggregate",
      "sum(x) OVER (PARTITION BY k, delta_window(d, 2.0D) ORDER BY ts)" ->
        "delta_window(events.d, 2.0D) is not on streams yet",
      "sum(x) OVER (PARTITION BY k, window_exclude('ties') ORDER BY ts)" ->
        "window_exclude('ties') is not on streams yet"
    )
  } test(s"refused, with a remedy: $call") {
    val error = intercept[AnalysisException](over(watermarked, call))
    assert(error.getCondition == "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING")
    assert(error.getMessage.contains(s"Sash: ") && error.getMessage.contains(remedy))
  }

  test("without a watermark") {
    val call = "sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
    val error = intercept[AnalysisException](over(events, call))
    assert(error.getMessage.contains("call withWatermark on the event time below the window"))
  }

  private def start(rows: DataFrame, mode: OutputMode): Unit = inDirectory { checkpoint =>
    rows.writeStream
      .outputMode(mode)
      .format("noop")
      .option("checkpointLocation", checkpoint)
      .start()
      .stop()
  }

  private val fine = "sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"

  for (mode <- Seq(OutputMode.Update(), OutputMode.Complete())) test(s"$mode mode") {
    val error = intercept[AnalysisException](streaming()(start(over(watermarked, fine), mode)))
    assert(error.getCondition == "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION")
    assert(error.getMessage.contains("write in append mode"))
  }

  test("state that is not in RocksDB") {
    val error =
      intercept[AnalysisException](start(over(watermarked, fine), OutputMode.Append()))
    assert(error.getCondition == "UNSUPPORTED_FEATURE.STORE_BACKEND_NOT_SUPPORTED_FOR_TWS")
    assert(error.getMessage.contains("spark.sql.streaming.stateStore.providerClass"))
    assert(error.getMessage.contains("use RocksDBStateStoreProvider"))
  }

  test("with Sash off, Spark's own error, when the query starts") {
    withSettings(SashConf.Enabled.key -> "false") {
      val error =
        intercept[AnalysisException](start(over(watermarked, fine), OutputMode.Append()))
      assert(error.getCondition == "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING")
      assert(!error.getMessage.contains("Sash"))
    }
  }

  private def failure(body: => Unit): String = {
    def causes(e: Throwable): Seq[Throwable] =
      Seq.unfold(e)(e => Option(e).map(e => (e, e.getCause)))
    causes(intercept[Exception](body)).map(_.getMessage).mkString("\n")
  }

  private val batches =
    StreamSuite.batches(1, count = 2, size = 20, jitterSeconds = 5, keys = 3)

  private def lambda(combine: String): String =
    s"monoid_agg(x, x -> x, (a, b) -> $combine) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"

  test("the same windows, whose lambdas have other names") {
    withSource("1 minute") { source =>
      for ((name, batch) <- Seq("u", "v").zip(batches)) {
        val call = lambda(s"a + b * aggregate(array(a, b), 0, ($name, w) -> $name)")
        source.start(over(_, call))
        source.add(batch)
        source.stop()
      }
    }
  }

  for {
    (name, other) <- Seq(
      "another frame" -> "sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING)",
      "another aggregate" -> "max(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)",
      "another partition" -> "sum(x) OVER (PARTITION BY x ORDER BY ts ROWS 2 PRECEDING)",
      "another order" -> "sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 2 PRECEDING)",
      "another lambda" -> lambda("a * b"),
      "another column" -> "s, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
    )
  } test(s"a checkpoint of other windows: $name") {
    withSource("1 minute") { source =>
      source.start(over(_, if (name == "another lambda") lambda("a + b") else fine))
      source.add(batches.head)
      source.stop()
      val message = failure {
        source.start(over(_, other))
        source.add(batches(1))
      }
      source.stop()
      assert(message.contains("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"))
      assert(message.contains("start with a new checkpoint location"))
    }
  }

  test("a checkpoint of another number of buckets") {
    withSource("1 minute") { source =>
      source.start(over(_, fine))
      source.add(batches.head)
      source.stop()
      withSettings(SashConf.StreamBuckets.key -> "16") {
        val message = failure {
          source.start(over(_, fine))
          source.add(batches(1))
        }
        source.stop()
        assert(message.contains("buckets 8") && message.contains("buckets 16"))
      }
    }
  }
}
