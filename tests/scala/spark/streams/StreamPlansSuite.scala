package io.sash.spark.streams

import org.apache.spark.sql.DataFrame

/** OVER on streams among other operators, and what it keeps. */
class StreamPlansSuite extends StreamSuite {

  private def batches(seed: Long, size: Int = 40) =
    StreamSuite.batches(seed, count = 6, size = size, jitterSeconds = 25, keys = 3)

  private def sql(query: String)(rows: DataFrame): DataFrame = {
    rows.createOrReplaceTempView("events")
    spark.sql(query)
  }

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
      "aggregates of objects" ->
        """SELECT id, collect_list(x) OVER w AS l, approx_count_distinct(s) OVER w AS c,
          |  max_by(s, d) OVER w AS m, sum(CAST(d AS DECIMAL(20, 3))) OVER w AS t
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, id ROWS 40 PRECEDING)""".stripMargin,
      "DISTINCT, medians, modes" ->
        """SELECT id, count(DISTINCT x, s) OVER w AS c, sum(DISTINCT x) FILTER (WHERE d > 20) OVER w AS d,
          |  median(d) OVER w AS m, mode(s, true) OVER w AS o, percentile(x, array(0.1, 0.9)) OVER w AS p,
          |  collect_set(s) OVER w AS set_s
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, id ROWS 40 PRECEDING)""".stripMargin,
      "predicates" ->
        """SELECT id, sum(x) OVER w AS s, count(*) OVER w AS c, max(d) OVER w AS m,
          |  sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS r
          |  FROM events WINDOW w AS
          |  (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200) ORDER BY ts, id)""".stripMargin,
      "predicates of another aggregate" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, predicate_window(count(nullif(s, 'a')), n -> n < 5)
          |  ORDER BY ts, id) AS s FROM events""".stripMargin,
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
          |  lag(id, 2, 0L) OVER w AS never_null
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, id)""".stripMargin,
      "peers in an order of several columns" ->
        """SELECT id, sum(x) OVER w AS growing, count(*) OVER w AS c,
          |  count(*) OVER (PARTITION BY k ORDER BY ts, x % 3 DESC NULLS LAST
          |    RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS peers,
          |  max(d) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS m
          |  FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, x % 3 DESC NULLS LAST)""".stripMargin,
      "years and months" ->
        """SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 MONTH PRECEDING) AS a
          |  FROM events""".stripMargin
    )
  } test(s"a stream's answers are the batch's: $name") {
    streaming() {
      checkStream(batches(7), delaySeconds = 15, restartBefore = Set(3))(sql(query))
    }
  }

  test("more rows at once than memory has room for") {
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

  test("of the columns just those that are asked for wait in the state") {
    withSource("1 minute") { source =>
      val query = source.start(
        sql(
          "SELECT id, a FROM (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING) AS a" +
            " FROM events)"
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
      assert(inputs == Seq(Seq("id", "k", "ts", "x", "bucket")))
    }
  }

  test("keys without rows leave, once no range can hold one") {
    withSource("0 seconds") { source =>
      val query = source.start(
        sql(
          "SELECT id, sum(x) OVER (PARTITION BY id % 500 ORDER BY ts RANGE INTERVAL 10 SECONDS PRECEDING)" +
            " AS a FROM events"
        )
      )
      def at(second: Int, keys: Range): Seq[Event] = keys.map { id =>
        Event(
          id.toLong,
          None,
          Some(new java.sql.Timestamp(1600000000000L + second * 1000L)),
          Some(1),
          0.0,
          ""
        )
      }
      def rowsInState: Long = query.lastProgress.stateOperators.head.numRowsTotal
      source.add(at(0, 0 until 500))
      source.add(at(1, 0 until 1))
      val many = rowsInState
      (1 to 6).foreach(i => source.add(at(8 * i, 0 until 1)))
      val few = rowsInState
      source.stop()
      assert(many > 500 && few < 60, s"$many, then $few")
      assert(source.rows.length == 507)
    }
  }
}
