package io.sash.spark.streams.plan

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.streams.task.ReadyRows

/** OVER on streams gives the rows of batch among other operators, names and types of any kind. */
@Slow
class StreamPlansSuite extends StreamSuite {

  private def batches(seed: Long, size: Int = 40) =
    StreamSuite.batches(seed, count = 6, size = size, jitterSeconds = 25, keys = 3)

  for {
    (name, query) <- Seq(
      "no partition" -> "SELECT id, sum(x) OVER (ORDER BY ts, id ROWS 5 PRECEDING) AS a FROM events",
      "several OVER clauses over different keys" ->
        """SELECT id, a, sum(a) OVER (PARTITION BY s ORDER BY ts, id ROWS 5 PRECEDING) AS b,
          |  count(a) OVER (PARTITION BY x ORDER BY ts RANGE INTERVAL 20 SECONDS PRECEDING) AS c FROM
          |  (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 5 PRECEDING) AS a
          |   FROM events)""".stripMargin,
      "expressions around it, filters above and below" ->
        """SELECT id, 2 * a + 1 AS b, k FROM
          |  (SELECT *, 1 + sum(x + 1) FILTER (WHERE d > 20) OVER
          |     (PARTITION BY k, upper(s) ORDER BY ts, id ROWS 5 PRECEDING) AS a
          |   FROM events WHERE IF(x % 7 = 0, ts IS NULL, true)) WHERE a > 30""".stripMargin,
      "floats, strings and structs as keys" ->
        """SELECT id, sum(x) OVER (PARTITION BY IF(x % 2 = 0, 0.0D, -0.0D), s, named_struct('a', k)
          |  ORDER BY ts, id ROWS 5 PRECEDING) AS a FROM events""".stripMargin,
      "collations" ->
        """SELECT id, count(*) OVER w AS c, CAST(max(l) OVER w AS STRING) AS m, count(DISTINCT l) OVER w AS d
          |  FROM (SELECT *, IF(d < 50, s, upper(s) || ' ') COLLATE UNICODE_CI_RTRIM AS l FROM events)
          |  WINDOW w AS (PARTITION BY l ORDER BY ts, id ROWS 5 PRECEDING)""".stripMargin,
      "names that operators have, twice, and in any case" ->
        """SELECT id, bucket, answers, input, _w0, a, a, x, X FROM (SELECT *, sum(bucket + 1) OVER
          |  (PARTITION BY answers ORDER BY ts, id ROWS 3 PRECEDING) AS a FROM
          |  (SELECT id, ts, x AS bucket, k AS answers, s AS input, d AS _w0, x FROM events))""".stripMargin,
      "columns of any type" ->
        """SELECT id, array(s, NULL) AS a, map(s, x) AS m, CAST(d AS DECIMAL(38, 10)) AS c,
          |  make_interval(0, x) AS i, named_struct('q', array(named_struct('r', x))) AS t, NULL AS n,
          |  count(*) OVER (PARTITION BY array(IF(d < 30, 0.0D, -0.0D)), CAST(s AS BINARY),
          |    CAST(x % 2 AS DECIMAL(38, 2)), make_dt_interval(x % 3) ORDER BY ts, id ROWS 3 PRECEDING) AS r,
          |  lag(map(s, x), 2) OVER (PARTITION BY k ORDER BY ts, id) AS l FROM events""".stripMargin,
      "aggregates of objects" ->
        """SELECT id, collect_list(x) OVER w AS l, approx_count_distinct(s) OVER w AS c,
          |  max_by(s, d) OVER w AS m, sum(CAST(d AS DECIMAL(20, 3))) OVER w AS t
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, id ROWS 40 PRECEDING)""".stripMargin,
      "DISTINCT, medians, modes" ->
        """SELECT id, count(DISTINCT x, s) OVER w AS c, sum(DISTINCT x) FILTER (WHERE d > 20) OVER w AS d,
          |  median(d) OVER w AS m, mode(s, true) OVER w AS o, percentile(x, array(0.1, 0.9)) OVER w AS p,
          |  collect_set(s) OVER w AS set_s
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, id ROWS 40 PRECEDING)""".stripMargin,
      "answers beside the slots in windows of every kind" -> {
        val w = "PARTITION BY k ORDER BY ts"
        s"""SELECT id, count(DISTINCT s) OVER ($w RANGE INTERVAL 20 SECONDS PRECEDING) AS a,
           |  median(x) OVER ($w RANGE BETWEEN INTERVAL 60 SECONDS PRECEDING AND INTERVAL 5 SECONDS PRECEDING) AS b,
           |  sum(DISTINCT x) OVER ($w) AS c, mode(x, true) OVER ($w RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS d,
           |  collect_set(x) FILTER (WHERE x > 20) OVER ($w RANGE INTERVAL 20 SECONDS PRECEDING) AS set_e,
           |  count(DISTINCT s) OVER ($w RANGE INTERVAL 60 SECONDS PRECEDING) AS f,
           |  median(d) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS g,
           |  sum(x) OVER (PARTITION BY k, gap_window('4 seconds', '9 seconds') ORDER BY ts) AS i,
           |  max(d) OVER (PARTITION BY k, gap_window('4 seconds', '9 seconds') ORDER BY ts) AS j,
           |  percentile_disc(0.3) WITHIN GROUP (ORDER BY d) OVER (PARTITION BY k, groups_window(3, 0) ORDER BY ts) AS h
           |  FROM events""".stripMargin
      },
      "answers beside the slots in windows of conditions" ->
        """SELECT id, sum(DISTINCT x) OVER (PARTITION BY k, predicate_window(count(s), n -> n < 9)
          |    ORDER BY ts, id) AS a, median(d) OVER (PARTITION BY k, delta_window(d, 20.0D) ORDER BY ts, id) AS b,
          |  rank_in_frame(x + 1) OVER (PARTITION BY k, delta_window(d, 20.0D) ORDER BY ts, id) AS e,
          |  collect_list(x) OVER (PARTITION BY k ORDER BY ts, id ROWS BETWEEN 9 PRECEDING AND 3 PRECEDING) AS c,
          |  median(x) OVER (PARTITION BY k, count_window(9), window_slide(4) ORDER BY ts, id) AS d
          |  FROM events""".stripMargin,
      "predicates" ->
        """SELECT id, sum(x) OVER w AS s, count(*) OVER w AS c, max(d) OVER w AS m,
          |  sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS r
          |  FROM events WINDOW w AS
          |  (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200) ORDER BY ts, id)""".stripMargin,
      "predicates of another aggregate" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, predicate_window(count(nullif(s, 'a')), n -> n < 5)
          |  ORDER BY ts, id) AS s FROM events""".stripMargin,
      "predicates and deltas of several attributes" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, predicate_window(sum(x), t -> t < 200) ORDER BY ts, id) AS a,
          |  max(d) OVER (PARTITION BY k, predicate_window(count(*), n -> n < 9) ORDER BY ts, id) AS b,
          |  count(*) OVER (PARTITION BY k, delta_window(d, 20.0D) ORDER BY ts, id) AS c,
          |  sum(x) OVER (PARTITION BY k, delta_window(x, 30), window_slide(2) ORDER BY ts, id) AS d,
          |  first(s) OVER (PARTITION BY k, delta_window(ts, INTERVAL 3 SECONDS) ORDER BY ts, id) AS e,
          |  min(x) OVER (PARTITION BY k, delta_window(IF(x % 9 = 0, float('NaN'), float(d)), 9) ORDER BY ts, id)
          |    AS f FROM events""".stripMargin,
      "groups of peers" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, groups_window(2, 0) ORDER BY ts) AS a,
          |  count(*) OVER (PARTITION BY k, groups_window(0, 0) ORDER BY ts) AS b,
          |  max(d) OVER (PARTITION BY k, groups_window(40, 0) ORDER BY ts) AS c,
          |  sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING) AS d,
          |  count(d) OVER (PARTITION BY k, groups_window(1, 0) ORDER BY ts, x % 3) AS e
          |  FROM events""".stripMargin,
      "kinds joined" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, window_and(punctuation_window(x > 80), count_window(9))
          |    ORDER BY ts, id) AS a,
          |  max(d) OVER (PARTITION BY k, window_and(gap_window(INTERVAL 2 SECONDS),
          |    time_window(INTERVAL 9 SECONDS)) ORDER BY ts) AS b,
          |  count(*) OVER (PARTITION BY k, window_and(count_window(5), window_and(groups_window(3, 0),
          |    punctuation_window(x > 80))) ORDER BY ts, id) AS c,
          |  median(x) OVER (PARTITION BY k, window_and(gap_window('4 seconds', '9 seconds'), count_window(4))
          |    ORDER BY ts) AS e,
          |  min(x) OVER (PARTITION BY k, window_and(count_window(3), time_window('9 seconds')) ORDER BY ts)
          |    AS f FROM events""".stripMargin,
      "either of two kinds" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, window_or(count_window(9), time_window('3 seconds'))
          |    ORDER BY ts) AS a,
          |  max(d) OVER (PARTITION BY k, window_or(time_window('3 seconds'), count_window(4)) ORDER BY ts) AS b,
          |  median(x) OVER (PARTITION BY k, window_or(gap_window('2 seconds'), count_window(4))
          |    ORDER BY ts) AS c,
          |  count(*) OVER (PARTITION BY k, window_or(gap_window('2 seconds', '4 seconds'),
          |    window_or(time_window('3 seconds'), count_window(2))) ORDER BY ts) AS d,
          |  min(x) OVER (PARTITION BY k, window_and(time_window('9 seconds'), window_or(count_window(3),
          |    time_window('2 seconds'))) ORDER BY ts) AS e,
          |  count(*) OVER (PARTITION BY k, window_or(groups_window(2, 0), count_window(4)) ORDER BY ts, id)
          |    AS f,
          |  bool_or(x > 50) OVER (PARTITION BY k, window_or(count_window(9), count_window(4))
          |    ORDER BY ts, x % 3) AS g FROM events""".stripMargin,
      "sessions" ->
        """SELECT id, min(ts) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS k,
          |  min(ts) OVER (PARTITION BY s, gap_window(INTERVAL 10 SECONDS) ORDER BY ts) AS s
          |  FROM events""".stripMargin,
      "punctuations" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, punctuation_window(x % 5 = 0) ORDER BY ts, id) AS s,
          |  min(d) OVER (PARTITION BY k, punctuation_window(d > 80) ORDER BY ts, id) AS d
          |  FROM events""".stripMargin,
      "slides" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, count_window(9), window_slide(4) ORDER BY ts, id) AS c,
          |  max(d) OVER (PARTITION BY k, window_slide(INTERVAL 7 SECONDS) ORDER BY ts, id ROWS 9 PRECEDING) AS t,
          |  count(*) OVER (PARTITION BY k, window_slide(3) ORDER BY ts, id ROWS 7 PRECEDING) AS n,
          |  sum(x) OVER (PARTITION BY k, window_slide(INTERVAL 1 MONTH) ORDER BY ts, id) AS m
          |  FROM events""".stripMargin,
      "functions of rows before" ->
        """SELECT id, row_number() OVER w AS n, lag(x) OVER w AS one, lag(x, 3, 7) OVER w AS three,
          |  lag(d, 40, -d) OVER w AS many, d - lag(d) OVER w AS change, lag(id, 0) OVER w AS same,
          |  lag(id, 2, 0L) OVER w AS never_null, lag(x) IGNORE NULLS OVER w AS known,
          |  lag(x, 1, -1) IGNORE NULLS OVER w AS known_or, rank() OVER w AS r,
          |  rank() OVER (PARTITION BY k ORDER BY ts) AS by_time, dense_rank() OVER w AS dense,
          |  dense_rank() OVER (PARTITION BY k ORDER BY ts) AS times,
          |  dense_rank() OVER (PARTITION BY k ORDER BY ts, d % 2, s DESC NULLS LAST) AS texts, last_value(x) IGNORE NULLS OVER w AS last
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, id)""".stripMargin,
      "peers in an order of several columns" ->
        """SELECT id, sum(x) OVER w AS growing, count(*) OVER w AS c,
          |  count(*) OVER (PARTITION BY k ORDER BY ts, x % 3 DESC NULLS LAST
          |    RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS peers,
          |  max(d) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS m
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, x % 3 DESC NULLS LAST)""".stripMargin,
      "a lambda over a short window beside a long one" ->
        """SELECT id, monoid_agg(1000 + x, x -> x, (a, b) -> a * b) OVER
          |    (PARTITION BY k ORDER BY ts, id ROWS 1 PRECEDING) AS p,
          |  count(*) OVER (PARTITION BY k ORDER BY ts, id ROWS 100 PRECEDING) AS c,
          |  collect_list(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 2 PRECEDING) AS l
          |  FROM events""".stripMargin,
      "no partition, and a first column that has no hash" ->
        """SELECT id, a FROM (SELECT parse_json(CAST(x AS STRING)) AS v, *,
          |  sum(x) OVER (ORDER BY ts, id ROWS 5 PRECEDING) AS a FROM events)""".stripMargin,
      "years and months" ->
        """SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 MONTH PRECEDING) AS a
          |  FROM events""".stripMargin
    )
  } test(s"a stream's answers are the batch's: $name", each(8): _*) {
    streaming() {
      checkStream(batches(7), delaySeconds = 15, restartBefore = Set(3))(sql(query))
    }
  }

  test("EXPLAIN names the algorithm of a stream's windows") {
    val titles = Seq(
      "sum(x)" -> "Two-Stacks Lite",
      "count(DISTINCT x)" -> "SlickDeque (Inv)",
      "collect_list(x)" -> "Recalculate"
    )
    withSource("1 minute") { source =>
      for ((call, title) <- titles) {
        val answers = sql(
          s"SELECT id, $call OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING) AS a FROM events"
        )(source.frame)
        val explained =
          answers.queryExecution.analyzed.collect { case OfStream(_, p) => p.explained }
        assert(
          explained.length == 1 && explained.head.contains(s": $call OVER (") &&
            explained.head.contains(s" by $title over a forest;"),
          explained
        )
      }
    }
  }

  test("windows of one partition and order are one operator") {
    withSource("1 minute") { source =>
      val answers = sql(
        """SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING) AS a,
          |  max(d) OVER (PARTITION BY k, time_window(INTERVAL 9 SECONDS) ORDER BY ts) AS b,
          |  lag(x) OVER (PARTITION BY k ORDER BY ts) AS c FROM events""".stripMargin
      )(source.frame)
      val operators = answers.queryExecution.analyzed.collect { case OfStream(_, p) => p.program }
      assert(operators.map(_.windows.length) == Seq(3))
    }
  }

  test("peers in either of two kinds, in batch and in both modes") {
    val rows = Seq(0.0, 10.0, 10.0, 10.0, 10.5, 30.0, 30.0).zipWithIndex.map { case (second, i) =>
      StreamSuite.at(i.toLong, second)
    }
    val last = StreamSuite.at(9, 90)
    val query = sql(
      """SELECT unix_millis(ts), count(*) OVER (PARTITION BY k,
        |  window_or(count_window(2), time_window('1 second')) ORDER BY ts) AS n FROM events""".stripMargin
    )(_: DataFrame)
    def counts(of: Seq[Row]): Seq[Long] =
      of.sortBy(r => (r.getLong(0), r.getLong(1))).map(_.getLong(1))
    val expected = Seq(1, 3, 3, 4, 4, 2, 3)
    assert(counts(query(spark.createDataFrame(rows)).collect().toSeq) == expected)
    for (mode <- Seq(OutputMode.Append(), OutputMode.Update())) streaming()(inDirectory { at =>
      val source = new Source("1 second", at, mode)
      source.start(query)
      source.add(rows)
      source.stop()
      source.start(query)
      source.add(Seq(last))
      source.stop()
      val n = if (mode == OutputMode.Update()) expected :+ 2 else expected
      assert(counts(source.rows) == n, mode)
    })
  }

  test("more rows at once than memory has room for", Thorough) {
    val most = ReadyRows.MostBytes
    try {
      ReadyRows.MostBytes = 2000
      streaming() {
        checkStream(batches(9, size = 200), delaySeconds = 15, restartBefore = Set(3))(
          sql(
            """SELECT id, sum(x) OVER w AS s, count(s) OVER (PARTITION BY k ORDER BY ts
              |  RANGE INTERVAL 9 SECONDS PRECEDING) AS c FROM events
              |  WINDOW w AS (PARTITION BY k ORDER BY ts, id ROWS 5 PRECEDING)""".stripMargin
          )
        )
      }
    } finally ReadyRows.MostBytes = most
  }

  test("two event times") {
    streaming() {
      checkStream(batches(7), delaySeconds = 15) { rows =>
        val others = rows.select(col("id").as("other"), col("ts").as("at"))
        sql(
          "SELECT id, at, sum(x) OVER (PARTITION BY k, at ORDER BY ts, id ROWS 5 PRECEDING) FROM events"
        )(rows.join(others, col("id") === col("other")))
      }
    }
  }

  for (filter <- Seq("", " WHERE a > d"))
    test(
      s"of the columns just those that are asked for wait in the state$filter"
    ) {
      withSource("1 minute") { source =>
        val query = source.start(
          sql(
            "SELECT id, a FROM (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING) AS a" +
              s" FROM events)$filter"
          )
        )
        source.add(batches(1).head)
        val plan = query
          .asInstanceOf[
            org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper
          ]
          .streamingQuery
          .lastExecution
          .optimizedPlan
        source.stop()
        val inputs = plan.collect { case OfStream(stateful, p) =>
          assert(stateful.child.output.map(_.name) == p.program.input.map(_.name))
          p.program.input.map(_.name)
        }
        val filtered = if (filter.isEmpty) Nil else Seq("d")
        assert(inputs == Seq(filtered ++ Seq("id", "k", "ts", "x") :+ "bucket"))
      }
    }

  private def eventAt(id: Long, key: Int, time: String): Event =
    Event(id, Some(key), Some(Timestamp.valueOf(time)), Some(1), 0.0, "")

  for {
    (name, query) <- Seq(
      "count" -> "window_slide(2)",
      "time" -> "window_slide(INTERVAL 1 HOUR)"
    )
  } test(s"a key that comes again slides on: $name", each(2): _*) {
    val times = Seq("10:00:01", "10:01:00", "10:02:00", "10:03:00", "10:04:00", "10:05:00")
    val others = times.zipWithIndex.map { case (t, i) =>
      Seq(eventAt(i + 10L, 2, s"2021-01-01 $t"))
    }
    val first = Seq(eventAt(1, 1, "2021-01-01 10:00:00"))
    val again = Seq("10:06", "10:07").zipWithIndex.map { case (t, i) =>
      eventAt(i + 2L, 1, s"2021-01-01 $t:00")
    }
    val last = Seq(eventAt(99, 2, "2021-01-02 00:00:00"))
    streaming() {
      checkStream((first +: others) ++ Seq(again, last), delaySeconds = 0)(
        sql(
          s"""SELECT id, count(*) OVER (PARTITION BY k, $query ORDER BY ts
             |  RANGE INTERVAL 5 SECONDS PRECEDING) AS a FROM events""".stripMargin
        )
      )
    }
  }

  test("a key stays as long as a month's range may reach back to it") {
    val batches = Seq(
      eventAt(1, 1, "2021-02-08 00:00:00"), // a sweep is planned for March 28
      eventAt(2, 1, "2021-02-28 12:00:00"),
      eventAt(3, 2, "2021-03-28 23:00:00"), // a month before is after row 2
      eventAt(4, 1, "2021-03-29 01:00:00"), // a month before is the beginning of February 28
      eventAt(5, 2, "2021-06-01 00:00:00")
    ).map(Seq(_))
    streaming() {
      checkStream(batches, delaySeconds = 0)(
        sql(
          "SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 MONTH PRECEDING)" +
            " AS a FROM events"
        )
      )
    }
  }

  test("the pending rows of many small batches are in a few chunks", Thorough) {
    withSource("1 hour") { source =>
      val query =
        source.start(sql("SELECT id, sum(x) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM events"))
      (0 until 30).foreach(i => source.add(Seq(eventAt(i.toLong, 1, f"2021-01-01 10:$i%02d:00"))))
      val rows = rowsInState(query)
      source.stop()
      assert(rows > 2 && rows < 14, s"$rows rows")
    }
  }

  test("keys of a range of a day leave, in the calendar of a time zone, too", Thorough) {
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin") {
      withSource("0 seconds") { source =>
        val day = 86400.0
        val query = source.start(
          sql(
            "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 DAY PRECEDING) AS a" +
              " FROM events"
          )
        )
        source.add((0 until 500).map(i => StreamSuite.at(i.toLong, i, k = i)))
        source.add(Seq(StreamSuite.at(500, 1000)))
        val many = rowsInState(query)
        (1 to 11).foreach(i => source.add(Seq(StreamSuite.at(500L + i, i * day / 2))))
        val few = rowsInState(query)
        source.stop()
        assert(many > 490 && few < 60, s"$many, then $few")
      }
    }
  }

  for {
    (name, call) <- Seq(
      "range" -> "sum(x) OVER (PARTITION BY id % 500 ORDER BY ts RANGE INTERVAL 10 SECONDS PRECEDING)",
      "session" -> "sum(x) OVER (PARTITION BY id % 500, gap_window(INTERVAL 5 SECONDS) ORDER BY ts)"
    )
  } test(s"keys without rows leave, once no window can hold one: $name", each(3): _*) {
    withSource("0 seconds") { source =>
      val query = source.start(sql(s"SELECT id, $call AS a FROM events"))
      def at(second: Int, keys: Range): Seq[Event] = keys.map { id =>
        Event(
          id.toLong,
          None,
          Some(new Timestamp(1600000000000L + second * 1000L)),
          Some(1),
          0.0,
          ""
        )
      }
      source.add(at(0, 0 until 500))
      source.add(at(1, 0 until 1))
      val many = rowsInState(query)
      (1 to 6).foreach(i => source.add(at(8 * i, 0 until 1)))
      val few = rowsInState(query)
      source.stop()
      assert(many > 500 && few < 60, s"$many, then $few")
      assert(source.rows.length == 507)
    }
  }
}
