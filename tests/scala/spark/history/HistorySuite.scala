package io.sash.spark.history

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite}
import io.sash.spark.streams.state.SmallChunks

/** A stream that begins with a history answers as if it had always run. */
@Slow
class HistorySuite extends StreamSuite {
  import StreamSuite._

  private val Delay = 20
  private val until = 1600001040L
  private val end = s"timestamp_seconds($until)"

  private def isPast(e: Event): Boolean = e.ts.exists(_.getTime <= until * 1000)

  /** Rows of a stream, some of them from before the border, and a table of all rows before. */
  private def events(seed: Long): (Seq[Event], Seq[Seq[Event]]) = {
    val all = batches(seed, count = 6, size = 40, jitterSeconds = 25, keys = 3)
    val (early, live) = all.splitAt(3)
    (all.flatten.filter(isPast), early.flatten +: live)
  }

  private def begun(past: Seq[Event], filters: Boolean = true)(rows: DataFrame): DataFrame = {
    val table = spark.createDataFrame(past)
    val later = if (filters) rows.where(s"ts > $end OR ts IS NULL") else rows
    later.unionByName(table.where(s"sash.history_until(ts, $end)"))
  }

  /** The last answer to each row of the stream, by the first columns. */
  private def answersOf(rows: Seq[Row], keys: Int): Map[Seq[Any], Row] =
    rows.map(r => r.toSeq.take(keys) -> r).toMap

  /**
   * @param keys the number of the first columns of an answer, which tell it from others
   * @param time the time of an answer
   */
  private def check(
      mode: OutputMode,
      keys: Int,
      time: String,
      seed: Long,
      fails: Boolean = false,
      filters: Boolean = true
  )(
      query: DataFrame => DataFrame
  ): Unit = streaming()(inDirectory { checkpoint =>
    val (past, live) = events(seed)
    val source = new Source(s"$Delay seconds", checkpoint, mode)
    def start() = source.start(rows => query(begun(past, filters)(rows)), mode)
    start()
    if (fails) {
      source.failNext()
      intercept[Exception](source.add(live.head))
      start()
      source.add(Nil)
    } else source.add(live.head)
    live.tail.zipWithIndex.foreach { case (batch, i) =>
      if (i % 2 == 0) {
        source.stop()
        start()
      }
      source.add(batch)
    }
    source.stop()
    val (inTime, watermark) = onTime(live, Delay)
    val behind = inTime.filterNot(isPast)
    def batch(rows: Seq[Event]) = {
      val answers = query(spark.createDataFrame(rows)).where(s"$time > $end")
      val inMode =
        if (mode == OutputMode.Append()) answers.where(s"$time <= timestamp_millis($watermark)")
        else answers
      answersOf(inMode.collect().toSeq, keys)
    }
    val expected = batch(past ++ behind)
    if (mode == OutputMode.Append())
      assert(source.rows.length == answersOf(source.rows, keys).size, "answered twice")
    assert(answersOf(source.rows, keys) == expected)
    assert(batch(behind) != expected, "vacuous: no answer needs the history")
  })

  private val W = "OVER (PARTITION BY k ORDER BY ts, id"

  private val calls = Seq(
    "ROWS" -> s"sum(x) $W ROWS 5 PRECEDING)",
    "ROWS again" -> s"max(d) $W ROWS 5 PRECEDING)",
    "ROWS before" -> s"count(x) $W ROWS BETWEEN 9 PRECEDING AND 3 PRECEDING)",
    "RANGE with one end" ->
      "avg(d) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 25 SECONDS PRECEDING)",
    "RANGE" -> "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 25 SECONDS PRECEDING)",
    "lag" -> s"lag(x, 2) $W)",
    "a growing window" -> s"sum(x) $W ROWS UNBOUNDED PRECEDING)",
    "row_number" -> s"row_number() $W)",
    "a median" -> s"median(x) $W ROWS 9 PRECEDING)",
    "DISTINCT" -> s"count(DISTINCT x) $W ROWS 20 PRECEDING)",
    "lists" -> s"collect_list(id) $W ROWS 7 PRECEDING)",
    "GROUPS" ->
      "count(*) OVER (PARTITION BY k, groups_window(3) ORDER BY ts)",
    "sessions" -> "count(*) OVER (PARTITION BY k, gap_window(INTERVAL 9 SECONDS) ORDER BY ts)",
    "delta" -> "count(*) OVER (PARTITION BY k, delta_window(d, 60) ORDER BY ts)",
    "a count and a time" ->
      """sum(x) OVER (PARTITION BY k, window_and(count_window(6), time_window(INTERVAL 1 MINUTE))
        | ORDER BY ts)""".stripMargin,
    "a count or a time" ->
      """sum(x) OVER (PARTITION BY k, window_or(count_window(6), time_window(INTERVAL 8 SECONDS))
        | ORDER BY ts)""".stripMargin,
    "without a key" -> "sum(x) OVER (ORDER BY ts, id ROWS 10 PRECEDING)"
  )

  for {
    ((name, call), i) <- calls.zipWithIndex
    mode = if (i % 2 == 0) OutputMode.Append() else OutputMode.Update()
  } test(s"$name in ${mode.toString.toLowerCase} mode", each(5): _*) {
    val query = sql(s"SELECT id, ts, $call AS a FROM events") _
    SmallChunks(check(mode, keys = 1, "ts", seed = name.hashCode)(query))
  }

  for (
    (name, query) <- Seq(
      "several frames" ->
        s"""SELECT id, ts, sum(x) $W ROWS 5 PRECEDING) AS a, max(d) OVER (PARTITION BY k ORDER BY
           | ts, id ROWS BETWEEN 30 PRECEDING AND 1 PRECEDING) AS b FROM events""".stripMargin,
      "frames that look ahead" ->
        s"""SELECT id, ts, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN
           | INTERVAL 9 SECONDS PRECEDING AND INTERVAL 4 SECONDS FOLLOWING) AS a
           | FROM events""".stripMargin,
      "windows over answers" ->
        s"""SELECT id, ts, sum(a) OVER (PARTITION BY s ORDER BY ts, id ROWS 9 PRECEDING) AS b FROM
           | (SELECT *, sum(x) $W ROWS 5 PRECEDING) AS a FROM events)""".stripMargin
    )
  ) test(name) {
    check(OutputMode.Append(), keys = 1, "ts", seed = name.hashCode)(sql(query))
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"hops in ${mode.toString.toLowerCase} mode") {
      check(mode, keys = 2, "until", seed = 5)(
        sql(
          """SELECT k, window.end AS until, sum(x) AS a, count(*) AS n FROM events
            | GROUP BY k, window(ts, '40 seconds', '5 seconds')""".stripMargin
        )
      )
    }

  test("no row of a history is late for one of its hop windows") {
    streaming()(inDirectory { checkpoint =>
      val (past, live) = events(seed = 6)
      val source = new Source(s"$Delay seconds", checkpoint)
      val hops =
        sql("SELECT count(*) FROM events GROUP BY k, window(ts, '40 seconds', '5 seconds')") _
      val running = source.start(rows => hops(begun(past)(rows)))
      source.add(live.head)
      val first = running.recentProgress.find(!_.observedMetrics.isEmpty).get
      source.stop()
      assert(first.observedMetrics.get("sash.0").getAs[Long]("rowsInTime") > 0)
      assert(first.observedMetrics.get("sash.0").getAs[Long]("rowsPartlyLate") == 0)
    })
  }

  test("a batch that fails reads the history again") {
    check(OutputMode.Append(), keys = 1, "ts", seed = 11, fails = true)(
      sql(s"SELECT id, ts, sum(x) $W ROWS 9 PRECEDING) AS a FROM events")
    )
  }

  test("later batches may bring rows that the history has") {
    check(OutputMode.Append(), keys = 1, "ts", seed = 13, filters = false)(
      sql(
        s"SELECT id, ts, count(*) $W ROWS 9 PRECEDING) AS a, sum(x) $W ROWS 9 PRECEDING) AS b FROM events"
      )
    )
  }

  test("labels over events with a history") {
    check(OutputMode.Append(), keys = 1, "ts", seed = 12)(
      sql(
        """SELECT l.id, l.ts, f.a, f.n FROM events l, LATERAL (
            | SELECT sum(e.x) AS a, count(*) AS n FROM events e
            | WHERE e.k = l.k AND e.ts >= l.ts - INTERVAL 30 SECONDS AND e.ts < l.ts) f""".stripMargin
      )
    )
  }

  test("only the first batch reads the table") {
    streaming()(inDirectory { checkpoint =>
      val (past, live) = events(seed = 3)
      val source = new Source(s"$Delay seconds", checkpoint)
      val query = sql(s"SELECT id, sum(x) $W ROWS 5 PRECEDING) AS a FROM events") _
      def reads = source.execution.executedPlan.collect { case h: HistoryExec => h }.length
      source.start(rows => query(begun(past)(rows)))
      source.add(live(0))
      assert(reads <= 1)
      source.add(live(1))
      assert(reads == 0)
      val left = source.execution.executedPlan.collect { case h: EmptyHistoryExec => h }
      assert(left.nonEmpty)
      source.stop()
    })
  }

  test("a window of a time reads no older rows of the table") {
    streaming()(inDirectory { checkpoint =>
      val (past, live) = events(seed = 4)
      val source = new Source(s"$Delay seconds", checkpoint)
      val call = "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 30 SECONDS PRECEDING)"
      source.start(rows => sql(s"SELECT id, $call AS a FROM events")(begun(past)(rows)))
      source.add(live(0))
      val read =
        source.execution.optimizedPlan.collectFirst { case History(l: LocalRelation, _, _) =>
          l.data.length
        }
      val reached = past.count(micros(_) > (until - 30) * 1000000L)
      assert(
        read.contains(reached) && reached > 0 && reached < past.length,
        source.execution.optimizedPlan
      )
      source.stop()
    })
  }

  test("a history that ends elsewhere is refused on a restart") {
    streaming()(inDirectory { checkpoint =>
      val (past, live) = events(seed = 3)
      val source = new Source(s"$Delay seconds", checkpoint)
      val query = sql(s"SELECT id, sum(x) $W ROWS 5 PRECEDING) AS a FROM events") _
      source.start(rows => query(begun(past)(rows)))
      source.add(live(0))
      source.stop()
      source.start(query)
      val error = intercept[Exception](source.add(live(1)))
      assert(error.getMessage.contains("give the history until 2020-09-13T12:44:00Z"), error)
    })
  }

  /** The error of a query over `live`, a stream, and `past`, a table. */
  private def errorOf(query: String): String =
    streaming("spark.sash.hops.enabled" -> "false")(inDirectory { checkpoint =>
      val source = new Source(s"$Delay seconds", checkpoint)
      val error = intercept[Exception](source.start { live =>
        live.createOrReplaceTempView("live")
        spark.createDataFrame(events(seed = 3)._1).createOrReplaceTempView("past")
        spark.sql(query.replace("BEGUN", s"(SELECT * FROM live UNION ALL $table)"))
      })
      error.getMessage
    })

  private val table = s"SELECT * FROM past WHERE history_until(ts, $end)"
  private val windowed = s"sum(x) $W ROWS 5 PRECEDING) AS a"

  for (
    (name, query, why) <- Seq(
      (
        "outside of windows",
        s"SELECT id, x FROM BEGUN UNION ALL SELECT id, a FROM (SELECT id, $windowed FROM live)",
        "outside of Sash's windows"
      ),
      (
        "below an aggregate of Spark",
        """SELECT n, sum(n) OVER (ORDER BY ts ROWS 3 PRECEDING) AS a FROM (SELECT n, window_time(w)
          | AS ts FROM (SELECT count(*) AS n, window(ts, '1 minute') AS w FROM BEGUN
          | GROUP BY window(ts, '1 minute')))""".stripMargin,
        "below Spark's Aggregate"
      ),
      (
        "below a join of streams",
        s"""SELECT l.id, sum(l.x) OVER (PARTITION BY l.k ORDER BY l.ts ROWS 5 PRECEDING) AS a
           | FROM BEGUN l JOIN live r ON l.id = r.id AND l.ts = r.ts""".stripMargin,
        "below Spark's Join"
      ),
      (
        "below DISTINCT",
        s"SELECT id, $windowed FROM (SELECT DISTINCT * FROM BEGUN)",
        "below Spark's Distinct"
      ),
      (
        "beside a stream without one",
        """SELECT l.id, f.a FROM BEGUN l, LATERAL (SELECT sum(x) AS a FROM live e WHERE e.k = l.k
          | AND e.ts >= l.ts - INTERVAL 30 SECONDS AND e.ts < l.ts) f""".stripMargin,
        "one without a history"
      ),
      (
        "under NOT",
        s"SELECT id, $windowed FROM (SELECT * FROM live UNION ALL SELECT * FROM past WHERE NOT history_until(ts, $end))",
        "with no OR, NOT"
      ),
      (
        "under OR",
        s"SELECT id, $windowed FROM (SELECT * FROM live UNION ALL SELECT * FROM past WHERE history_until(ts, $end) OR x = 1)",
        "with no OR, NOT"
      ),
      (
        "before the stream",
        s"SELECT id, $windowed FROM ($table UNION ALL SELECT * FROM live)",
        "the stream stands first"
      ),
      (
        "of two times",
        s"SELECT id, $windowed FROM (SELECT * FROM live UNION ALL $table UNION ALL SELECT * FROM past WHERE history_until(ts, timestamp_seconds(7)))",
        "with different times"
      ),
      (
        "until now",
        s"SELECT id, $windowed FROM (SELECT * FROM live UNION ALL SELECT * FROM past WHERE history_until(ts, current_timestamp()))",
        "NON_FOLDABLE_INPUT"
      )
    )
  ) test(s"a history is refused $name") {
    val error = errorOf(query)
    assert(error.contains(why), error)
  }

  test("a history of another time than the window's is refused") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source(s"$Delay seconds", checkpoint)
      val error = intercept[Exception](source.start { rows =>
        val moved = begun(events(seed = 3)._1)(rows)
          .selectExpr("id", "k", "x", "ts + INTERVAL 1 HOUR AS ts")
        sql(s"SELECT id, $windowed FROM events")(moved.withWatermark("ts", "5 seconds"))
      })
      assert(error.getMessage.contains("below a window by another time"), error)
    })
  }

  test("a history of several tables") {
    streaming()(inDirectory { checkpoint =>
      val (past, live) = events(seed = 6)
      val source = new Source(s"$Delay seconds", checkpoint)
      val some = past.filter(_.id % 2 == 0)
      source.start { rows =>
        val joined = spark
          .createDataFrame(past)
          .join(spark.createDataFrame(some).select("id").distinct(), Seq("id"), "left_anti")
          .select(rows.columns.head, rows.columns.tail.toSeq: _*)
          .where(s"history_until(ts, $end)")
        val more = spark.createDataFrame(some).where(s"history_until(ts, $end)")
        val both = rows.unionByName(joined).select("*").unionByName(more)
        sql(s"SELECT id, ts, $windowed FROM events")(both)
      }
      live.foreach(source.add)
      source.stop()
      val (inTime, watermark) = onTime(live, Delay)
      val expected = sql(s"SELECT id, ts, $windowed FROM events")(
        spark.createDataFrame(past ++ inTime.filterNot(isPast))
      ).where(s"ts > $end AND ts <= timestamp_millis($watermark)")
      assert(answersOf(source.rows, 1) == answersOf(expected.collect().toSeq, 1))
    })
  }

  test("in a batch query it is a comparison") {
    val past = spark.createDataFrame(events(seed = 3)._1)
    assert(past.where(s"history_until(ts, $end)").count() == past.count())
    assert(past.where("history_until(ts, TIMESTAMP '2020-01-01')").isEmpty)
    for (
      (end, why) <- Seq(
        "ts" -> "NON_FOLDABLE_INPUT",
        "CAST(NULL AS TIMESTAMP)" -> "UNEXPECTED_NULL"
      )
    ) {
      val error = intercept[Exception](past.where(s"history_until(ts, $end)"))
      assert(error.getMessage.contains(why), error)
    }
  }
}
