package io.sash.spark.streams.plan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{AnalysisException, DataFrame, Encoders}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{approx_count_distinct, col, expr, window}
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import io.sash.spark.{Event, StreamSuite}
import io.sash.spark.base.SashConf
import io.sash.spark.streams.checkpoint.TextFile
import io.sash.spark.streams.start.StreamingWrite

/** What OVER on streams refuses, and how. */
class StreamErrorsSuite extends StreamSuite {

  private def events: DataFrame =
    MemoryStream[Event](Encoders.product[Event], spark).toDF()

  private def watermarked: DataFrame = events.withWatermark("ts", "1 minute")

  private def over(rows: DataFrame, call: String): DataFrame =
    sql(s"SELECT id, $call AS a FROM events")(rows)

  private val InBatch = "ask for it in batch, over a table that the stream is written to"

  test("an interval is no distance of numbers") {
    val call = "sum(x) OVER (PARTITION BY k, time_window('1 hour') ORDER BY id)"
    val error = intercept[AnalysisException](over(watermarked, call))
    assert(error.getMessage.contains("write the size as a number, or order by a timestamp"))
  }

  /** A call, and what is said of it: the expression as it was written, why, and what to write instead. */
  private val refusals = Seq(
    "sum(x) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING)" ->
      "ORDER BY id is not an event time with a watermark; ORDER BY ts, which has a watermark",
    "sum(x) OVER (PARTITION BY k ORDER BY date_trunc('minute', ts))" ->
      "ORDER BY date_trunc('minute', ts) is not an event time with a watermark; ORDER BY ts",
    "sum(x) OVER (PARTITION BY k)" -> "the window has no ORDER BY; ORDER BY ts",
    "sum(x) OVER (PARTITION BY k ORDER BY ts DESC ROWS 2 PRECEDING)" ->
      "a stream is ordered by ascending event time; ORDER BY ts",
    "sum(x) OVER (PARTITION BY map(k, x) ORDER BY ts)" ->
      "PARTITION BY map(k, x): values of type MAP<INT, INT> are not told apart by their bytes; partition by another",
    "lead(x) OVER (ORDER BY ts), max(x) OVER (PARTITION BY window_slide(2) ORDER BY ts)" ->
      "beside a frame that looks ahead no window may slide; ask for them in one query each",
    "lead(x) OVER (ORDER BY ts), max(x) OVER (PARTITION BY punctuation_window(x = 1) ORDER BY ts)" ->
      "beside a frame that looks ahead no window may begin at a punctuation; ask for them in one query each",
    "max(x) OVER (PARTITION BY window_and(count_window(2), delta_window(x, 3)) ORDER BY ts)" ->
      s"has a part whose rows leave by a condition on its own window; $InBatch",
    "max(x) OVER (PARTITION BY window_and(count_window(2), groups_window(2, 1)) ORDER BY ts)" ->
      s"has a part that does not end at the current row; $InBatch",
    "max(x) OVER (PARTITION BY window_and(time_window('1 hour'), groups_window(2, 0)) ORDER BY ts)" ->
      s"counts groups and measures times, and a stream keeps one of both for a window; $InBatch",
    """max(x) OVER (PARTITION BY window_and(window_or(count_window(2), time_window('1 hour')),
      |  window_or(count_window(3), groups_window(2, 0))) ORDER BY ts)""".stripMargin ->
      s"counts groups and measures times, and a stream keeps one of both for a window; $InBatch",
    "sum(x) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)" ->
      "the bound UNBOUNDED FOLLOWING is never reached on a stream; say how far the frame looks ahead, as in ROWS",
    "sum(x) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)" ->
      "the bound UNBOUNDED FOLLOWING is never reached on a stream; say how far the frame looks ahead, as in ROWS",
    "ntile(4) OVER (PARTITION BY k ORDER BY ts)" ->
      ("ntile(4) depends on how many rows its partition has, which is never known on a stream; " +
        s"write ceil(4 * cume_dist_in_frame(x)), which ranks a value x among those of a frame, or $InBatch"),
    "percent_rank() OVER (PARTITION BY k ORDER BY ts)" ->
      ("PERCENT_RANK() depends on how many rows its partition has, which is never known on a stream; " +
        s"write percent_rank_in_frame(x), which ranks a value x among those of a frame, or $InBatch"),
    "cume_dist() OVER (PARTITION BY k ORDER BY ts)" ->
      ("cume_dist() depends on how many rows its partition has, which is never known on a stream; " +
        s"write cume_dist_in_frame(x), which ranks a value x among those of a frame, or $InBatch"),
    "percent_rank() OVER (PARTITION BY k ORDER BY x DESC)" ->
      ("ORDER BY x is not an event time with a watermark; ORDER BY ts, which has a watermark, and " +
        "write percent_rank_in_frame(-x) for a rank in a frame"),
    "ntile(4) OVER (PARTITION BY k ORDER BY x)" ->
      "which has a watermark, and write ceil(4 * cume_dist_in_frame(x)) for a rank in a frame",
    "nth_value(x, 2) OVER (PARTITION BY k ORDER BY ts)" ->
      "write try_element_at(collect_list(x), 2) with collect_list over the same window",
    "lag(ts, 1, current_timestamp()) OVER (PARTITION BY k ORDER BY ts)" ->
      "current_timestamp() asks for the time or the user of the moment; name it as a column below the window",
    "lead(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)" ->
      "leave rows where x is NULL out below the window, and write it without IGNORE NULLS",
    "lag(x + 1, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)" ->
      "leave rows where (x + 1) is NULL out below the window, and write it without IGNORE NULLS",
    "sum(x) OVER (PARTITION BY k, rows_window(x + 1) ORDER BY ts)" ->
      ("how far rows_window((x + 1)) looks back has no bound, so that a stream would have to keep all rows; " +
        "bound it, as in window_and(rows_window((x + 1)), count_window(1000)) or " +
        "window_and(rows_window((x + 1)), time_window('7 days'))"),
    """sum(x) OVER (PARTITION BY k, window_and(rows_window(x), range_window(make_dt_interval(x)))
      |  ORDER BY ts)""".stripMargin -> "looks back has no bound, so that a stream would have to keep all rows",
    """sum(x) OVER (PARTITION BY window_and(range_window(make_dt_interval(x)), groups_window(2, 0))
      |  ORDER BY ts)""".stripMargin ->
      s"counts groups and measures times, and a stream keeps one of both for a window; $InBatch",
    "sum(x) OVER (PARTITION BY k, window_exclude('ties') ORDER BY ts)" ->
      s"window_exclude('ties') leaves rows out of a window, and a stream keeps only the window's aggregate; end the frame before its row, or $InBatch"
  )

  for ((call, text) <- refusals) test(s"refused, with a remedy: $call", each(2): _*) {
    val error = intercept[AnalysisException](over(watermarked, call))
    assert(error.getCondition == "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING")
    assert(
      error.getMessage.contains(s"Sash: ") && error.getMessage.contains(text),
      error.getMessage
    )
    // names of the analyzer's, of classes, and of nothing
    assert(
      !error.getMessage.matches("(?s).*(_we?\\d|org\\.apache|io\\.sash|null[^s]).*"),
      error.getMessage
    )
  }

  test("what is written instead gives the same") {
    val rows = spark.createDataFrame(StreamSuite.batches(5, 2, 30, 9, 2).flatten)
    val (one, other) =
      ("nth_value(x, 2) IGNORE NULLS OVER w", "try_element_at(collect_list(x) OVER w, 2)")
    def windowed(call: String) = sql(
      s"SELECT id, $call AS a FROM events WHERE ts IS NOT NULL WINDOW w AS (PARTITION BY k ORDER BY ts)"
    ) _
    assert(windowed(s"$one <=> $other")(rows).where("NOT a").isEmpty)
    assert(windowed(other)(watermarked).isStreaming)
  }

  test("without a watermark") {
    val call = "sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
    val error = intercept[AnalysisException](over(events, call))
    assert(error.getMessage.contains("call withWatermark on the event time below the window"))
  }

  test("a watermark that is not on a column of the window's rows") {
    val hidden = intercept[AnalysisException](
      over(watermarked.select("id", "k", "x"), "sum(x) OVER (PARTITION BY k ORDER BY id)")
    )
    assert(hidden.getMessage.contains("ORDER BY ts, which has a watermark, and select it below"))
    val hops = watermarked.groupBy(window(col("ts"), "1 minute"), col("id")).count()
    val struct = intercept[AnalysisException](over(hops, "sum(count) OVER (ORDER BY id)"))
    assert(struct.getMessage.contains("name window_time(window) below the window"))
  }

  test("the first rows of each hop window are asked for in a GROUP BY") {
    val hops = watermarked
      .groupBy(window(col("ts"), "1 minute", "30 seconds"), col("k"))
      .agg(expr("count(*)").as("n"))
    for (
      (call, instead) <- Seq(
        "row_number() OVER (PARTITION BY window ORDER BY n DESC)" ->
          "GROUP BY window and write max_n_by(struct(*), n, 3)",
        "rank() OVER (PARTITION BY window ORDER BY n)" ->
          "GROUP BY window and write min_n_by(struct(*), n, 3)",
        "dense_rank() OVER (PARTITION BY window, k % 2 ORDER BY n + 1 DESC)" ->
          "GROUP BY window, (k % 2) and write max_n_by(struct(*), (n + 1), 3)"
      )
    ) {
      val text = intercept[AnalysisException](hops.selectExpr("*", s"$call AS a")).getMessage
      assert(text.contains(s"for the first rows of each window, $instead"), text)
      assert(!text.contains("window_time"), text)
    }
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
  private val named =
    "sum(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"

  for {
    (name, mode, query, texts) <- Seq(
      (
        "complete mode",
        OutputMode.Complete(),
        fine,
        Seq(s"$named; write in append or update mode")
      ),
      (
        "two orders in update mode",
        OutputMode.Update(),
        s"$fine, sum(x) OVER (PARTITION BY id ORDER BY ts)",
        Seq(
          named,
          "(PARTITION BY id ORDER BY ts",
          "count rows that are answered again; write in append mode"
        )
      ),
      (
        "a look ahead in update mode",
        OutputMode.Update(),
        "lead(x) OVER (PARTITION BY k ORDER BY ts)",
        Seq("lead(x", "frames that look ahead, whose rows wait for others; write in append mode")
      ),
      (
        "a look ahead and another order",
        OutputMode.Append(),
        s"lead(x) OVER (PARTITION BY k ORDER BY ts), sum(x) OVER (PARTITION BY id ORDER BY ts)",
        Seq("lead(x", "take their rows for late ones; write them to a table in between")
      )
    )
  } test(name) {
    val error = intercept[AnalysisException](streaming()(start(over(watermarked, query), mode)))
    assert(error.getCondition == "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION")
    texts.foreach(t => assert(error.getMessage.contains(t), error.getMessage))
  }

  test("real-time mode answers at once: append mode is refused there") {
    val analyzed = over(watermarked, fine).queryExecution.analyzed
    val statement = statementOf(analyzed, OutputMode.Append(), Trigger.RealTime("5 minutes"))
    val error = intercept[AnalysisException](StreamingWrite(statement))
    assert(error.getMessage.contains(s"$named in real-time mode"), error.getMessage)
    assert(error.getMessage.contains("write in update mode, or with another trigger"))
    // Spark sets RocksDB's provider itself in this mode
    withoutProvider {
      val inUpdateMode = statement.copy(outputMode = OutputMode.Update())
      assert(StreamingWrite(inUpdateMode).exists(OfStream.unapply(_).nonEmpty))
      val hops = watermarked.groupBy(window(col("ts"), "1 minute", "10 seconds")).count()
      val ofHops = inUpdateMode.copy(inputQuery = hops.queryExecution.analyzed)
      assert(!StreamingWrite(ofHops).exists(OfBuckets.unapply(_).nonEmpty))
    }
  }

  private val provider = "spark.sql.streaming.stateStore.providerClass"

  private def withoutProvider(body: => Unit): Unit = {
    val before = spark.conf.getOption(provider)
    spark.conf.unset(provider)
    try body
    finally before.foreach(spark.conf.set(provider, _))
  }

  test("state that is not in RocksDB") {
    def message = {
      val error =
        intercept[AnalysisException](start(over(watermarked, fine), OutputMode.Append()))
      assert(error.getCondition == "UNSUPPORTED_FEATURE.STORE_BACKEND_NOT_SUPPORTED_FOR_TWS")
      assert(error.getMessage.contains(s"of $named"), error.getMessage)
      error.getMessage
    }
    withoutProvider {
      val ofDefault = message
      assert(
        ofDefault.contains(s"which is the default of $provider (set $provider to "),
        ofDefault
      )
    }
    val other = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    withSettings(provider -> other) {
      val ofSetting = message
      assert(
        ofSetting.contains(s"$other, to which $provider is set (set $provider to "),
        ofSetting
      )
    }
  }

  test("a checkpoint whose state an earlier version has written") {
    withSource("1 minute") { source =>
      source.start(over(_, fine))
      source.add(batches.head)
      val operator = new Path(source.checkpoint, "state/0")
      source.stop()
      val hadoop = spark.sparkContext.hadoopConfiguration
      TextFile.write(new Path(operator, "_sash/windows"), "columns id BIGINT; layout 4\n", hadoop)
      val message = failure {
        source.start(over(_, fine))
        source.add(batches(1))
      }
      source.stop()
      assert(message.contains("no layout, begun by an earlier version of Sash"))
      assert(message.contains("with a new checkpoint location"))
    }
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

  private def ofRows(call: String = "sum(x)", by: String = "k", order: String = "ts"): String =
    s"$call OVER (PARTITION BY $by ORDER BY $order ROWS 2 PRECEDING)"

  private def ofRange(seconds: Int): String =
    s"sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL $seconds SECONDS PRECEDING)"

  private def session(seconds: Int): String =
    s"sum(x) OVER (PARTITION BY k, gap_window(INTERVAL $seconds SECONDS) ORDER BY ts)"

  for {
    (name, first, other) <- Seq(
      ("another frame", fine, "sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING)"),
      ("another range", ofRange(10), ofRange(11)),
      ("another gap", session(10), session(11)),
      ("another aggregate", fine, ofRows("max(x)")),
      ("another argument", ofRows("sum(x + 1)"), ofRows("sum(x + 2)")),
      (
        "an argument that is no expression",
        ofRows("approx_count_distinct(x, 0.3D)"),
        ofRows("approx_count_distinct(x, 0.01D)")
      ),
      (
        "an order within a group",
        ofRows("percentile_cont(0.1) WITHIN GROUP (ORDER BY d)"),
        ofRows("percentile_cont(0.1) WITHIN GROUP (ORDER BY d DESC)")
      ),
      ("another partition", fine, ofRows(by = "x")),
      ("another expression to partition by", ofRows(by = "k % 2"), ofRows(by = "k % 3")),
      (
        "another collation to partition by",
        ofRows(by = "s COLLATE UTF8_LCASE"),
        ofRows(by = "s COLLATE UNICODE_CI")
      ),
      ("another order", fine, ofRows(order = "ts, id")),
      (
        "another expression in the order",
        ofRows(order = "ts, -id"),
        ofRows(order = "ts, id + 0")
      ),
      ("another lambda", lambda("a + b"), lambda("a * b")),
      ("another column", fine, s"s, $fine"),
      (
        "calls of the same windows the other way around",
        s"${ofRange(5)}, max(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING)",
        "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING), max(x) OVER " +
          "(PARTITION BY k ORDER BY ts RANGE INTERVAL 5 SECONDS PRECEDING)"
      )
    )
  } test(s"a checkpoint of other windows: $name", each(3): _*) {
    checkOtherState(over(_, first), over(_, other))
  }

  /** The second query does not go on with what the first has left, and gives no row. */
  private def checkOtherState(
      first: DataFrame => DataFrame,
      other: DataFrame => DataFrame,
      settings: (String, String)*
  ): Unit = withSource("1 minute") { source =>
    source.start(first)
    source.add(batches.head)
    source.stop()
    val before = source.rows.length
    withSettings(settings: _*) {
      val message = failure {
        source.start(other)
        source.add(batches(1))
      }
      source.stop()
      assert(message.contains("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"))
      assert(message.contains("with a new checkpoint location"))
      assert(source.rows.length == before)
    }
  }

  test("a checkpoint of other hops") {
    def hops(slide: Int)(rows: DataFrame): DataFrame =
      rows.groupBy(window(col("ts"), "60 seconds", s"$slide seconds")).count()
    checkOtherState(hops(10), hops(20))
    def distinct(error: Double)(rows: DataFrame): DataFrame = rows
      .groupBy(window(col("ts"), "60 seconds", "10 seconds"))
      .agg(approx_count_distinct("x", error))
    checkOtherState(distinct(0.3), distinct(0.01))
  }

  for (
    call <- Seq(
      ofRows(by = "date(ts)"),
      ofRows("max(hour(ts))"),
      "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 MONTH PRECEDING)"
    )
  ) test(s"a checkpoint of another time zone: $call", each(2): _*) {
    checkOtherState(over(_, call), over(_, call), "spark.sql.session.timeZone" -> "Asia/Tokyo")
  }

  test("another time zone where nothing depends on it") {
    withSource("1 minute") { source =>
      for ((zone, batch) <- Seq("UTC", "Asia/Tokyo").zip(batches)) {
        withSettings("spark.sql.session.timeZone" -> zone) {
          source.start(over(_, s"$fine, ${ofRange(9)}"))
          source.add(batch)
          source.stop()
        }
      }
    }
  }

  test("a checkpoint stays with its store of state") {
    inDirectory { checkpoint =>
      val source = new Source("1 minute", checkpoint)
      streaming() {
        source.start(over(_, fine))
        source.add(batches.head)
        source.stop()
      }
      withSettings(SashConf.StreamBuckets.key -> "8") {
        source.start(over(_, fine))
        source.add(batches(1))
        source.stop()
      }
    }
  }

  test("a second operator with state where just one is allowed") {
    val several = "spark.sql.streaming.statefulOperator.allowMultiple"
    val error = intercept[AnalysisException](streaming(several -> "false") {
      start(over(watermarked, s"ts, $fine").dropDuplicates("id", "ts"), OutputMode.Append())
    })
    assert(error.getMessage.contains(several) && error.getMessage.contains("set it to true"))
    streaming(several -> "false")(start(over(watermarked, fine), OutputMode.Append()))
  }

  test("a hidden column of the source above windows, which have read none") {
    inDirectory { folder =>
      spark
        .createDataFrame(StreamSuite.batches(1, 1, 9, 9, 2).flatten)
        .write
        .mode("append")
        .parquet(folder)
      val rows = spark.readStream
        .schema(watermarked.schema)
        .parquet(folder)
        .withWatermark("ts", "1 minute")
      val error = intercept[AnalysisException] {
        streaming()(over(rows, s"*, $fine").select("id", "_metadata.file_name"))
      }
      assert(error.getCondition.startsWith("UNRESOLVED_COLUMN"), error.getMessage)
      streaming()(over(rows.withColumn("of", expr("_metadata.file_name")), s"of, $fine"))
    }
  }

  test("a watermark above windows of rows") {
    val error = intercept[AnalysisException](streaming() {
      val answers = over(watermarked, s"ts + INTERVAL 1 DAY AS later, $fine")
      start(answers.withWatermark("later", "1 minute"), OutputMode.Append())
    })
    assert(error.getMessage.contains("withWatermark on"))
    assert(error.getMessage.contains("call it below them"))
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
        // parts that are the same are not named
        assert(message.contains("Sash's windows with buckets: 8, begun by Sash"), message)
        assert(
          message.contains(
            "Sash's windows with buckets: 16; set spark.sash.stream.buckets to 8, or start"
          ),
          message
        )
      }
    }
  }
}
