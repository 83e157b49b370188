package io.sash.spark.split

import org.scalatest.Assertion

import io.sash.spark.base.SashConf

/**
 * Windows at another table's times in many tasks: the plan, EXPLAIN, and who reads which rows.
 */
class SplitLateralSuite extends SplitSuite {
  private val settings = inManyTasks ++ Seq(
    SashConf.WindowSplit.key -> "always",
    SashConf.LateralSliceThreshold.key -> "-1",
    "spark.sql.session.timeZone" -> "UTC"
  )

  private def views(labels: Int = 1000, events: Int = 5000): Unit = {
    val key = "if(id % 10 < 9, 1, id % 50) AS k"
    // a label each quarter of an hour,
    def made(rows: Int, minutes: String, more: String) = spark.sql(
      s"SELECT id, $key, timestamp_seconds(1770000000 + $minutes * 60) AS t, " +
        s"$minutes AS n, $more FROM range($rows)"
    )
    made(labels, "(id * 15)", "id * 7919 % 6000 AS a, id * 104729 % 6000 AS b")
      .createOrReplaceTempView("labels")
    made(events, "(id * 3)", "id % 100 AS x").createOrReplaceTempView("events")
  }

  private def count(range: String, key: String = "e.k = l.k AND ") =
    s"SELECT l.id, f.* FROM labels l, LATERAL (SELECT count(*) AS c, sum(e.x) AS s " +
      s"FROM events e WHERE $key$range) f"

  test("many tasks read few rows for others") {
    views()
    withSettings(settings: _*) {
      for (
        (range, most) <- Seq(
          "e.t >= l.t - INTERVAL 2 DAYS AND e.t < l.t" -> 2.5,
          "e.t > l.t AND e.t < l.t + INTERVAL 7 DAYS" -> 2.5,
          "e.t < l.t" -> 1.0
        );
        key <- Seq("", "e.k = l.k AND ")
      ) {
        val frame = divided(count(range, key))
        assert(metric(frame, "tasks") == 16, range)
        val (own, read) = (metric(frame, "ownRows"), metric(frame, "neighbourRows"))
        assert(own == 6000 && read <= most * own, s"$range: $read rows read")
      }
    }
  }

  test("the last rows before each label, in many tasks") {
    views()
    withSettings(settings: _*) {
      for (limit <- Seq(1, 3)) {
        val frame = divided(
          "SELECT l.id, f.x, f.at FROM labels l LEFT JOIN LATERAL (SELECT e.x, e.id AS at " +
            "FROM events e WHERE e.k = l.k AND e.t <= l.t AND e.t >= l.t - INTERVAL 1 DAY " +
            s"ORDER BY e.t DESC LIMIT $limit) f"
        )
        assert(metric(frame, "tasks") == 16)
      }
    }
  }

  test("EXPLAIN names the subquery, and says how many tasks answer it or why one does") {
    views(100, 100)
    def explained(query: String, more: (String, String)*): String =
      withSettings(settings ++ more: _*)(told(spark.sql(query)))
    def has(text: String, part: String): Assertion = assert(text.contains(part), text)
    val week = "e.t >= l.t - INTERVAL 7 DAYS AND e.t < l.t"
    val hour = "e.t >= l.t - INTERVAL 1 HOUR AND e.t < l.t"
    val many = "slides in many tasks: LATERAL (SELECT count(*) AS c, sum(e.x) AS s FROM "
    for (key <- Seq("", "e.k = l.k AND "); range <- Seq(week, hour, "e.t < l.t")) {
      val text = explained(count(range, key))
      has(text, many)
      has(text, ", with older rows and totals")
    }
    val median =
      "SELECT (SELECT median(e.x) FROM events e WHERE e.k = l.k AND e.t < l.t) FROM labels l"
    has(explained(median), "each key in one task: (SELECT median(e.x) FROM")
    has(explained(median), "has no partial aggregate of fixed size")
    val own = explained(count("e.n BETWEEN least(l.a, l.b) AND greatest(l.a, l.b)"))
    has(own, "each key in one task: each label of LATERAL (SELECT count(*) AS c, sum(e.x) AS s")
    has(own, "has an end of its own")
    for (range <- Seq(week, hour)) {
      has(
        explained(count(range), SashConf.WindowSplitThreshold.key -> "1GB"),
        "each key in one task: its input has an estimated"
      )
      has(
        explained(count(range, ""), SashConf.WindowSplit.key -> "off"),
        "in one task: spark.sash.window.split is off"
      )
      val one = explained(count(range), SashConf.WindowSplit.key -> "on")
      assert(one.contains("slides: LATERAL") && !one.contains("task"), one)
      has(explained(count(range, ""), SashConf.WindowSplit.key -> "on"), many)
    }
    has(
      explained(
        "SELECT sum(x) FILTER (WHERE x > 3) OVER (ORDER BY id ROWS 3 PRECEDING) FROM events",
        SashConf.WindowSplit.key -> "off"
      ),
      "in one task: spark.sash.window.split is off"
    )
  }

  test("no rows, and all rows at one time") {
    views(50, 50)
    val time = "TIMESTAMP'2026-03-08' AS t"
    withSettings(settings: _*) {
      for (
        (labels, events) <- Seq("id < 0" -> "true", "true" -> "id < 0", "true" -> "true");
        range <- Seq("e.t <= l.t", "e.t >= l.t - INTERVAL 1 DAY AND e.t < l.t + INTERVAL 1 DAY")
      )
        divided(
          count(range)
            .replace("labels l", s"(SELECT id, k, $time FROM labels WHERE $labels) l")
            .replace("events e", s"(SELECT k, $time, x FROM events WHERE $events) e")
        )
    }
  }
}
