package io.sash.spark.hops

import org.scalatest.tagobjects.Slow

import io.sash.spark.{ErrorCondition, Explain}
import io.sash.spark.base.SashConf

/** Hops in batch: Spark's rows, without its copies. */
class HopsSuite extends HopChecks {

  private val windows = Seq(
    "window(ts, '10 seconds', '5 seconds')",
    "window(ts, '1 minute', '1 second')",
    "window(ts, '25 seconds', '10 seconds')",
    "window(ts, '30 seconds', '7 seconds', '3 seconds')",
    "window(ts, '1 second', '300 milliseconds', '100 milliseconds')",
    "window(CAST(ts AS TIMESTAMP_NTZ), '40 seconds', '20 seconds')",
    "window(ts - INTERVAL 60 YEARS, '25 seconds', '10 seconds')",
    "window(timestamp_seconds(id), '7 seconds', '2 seconds')"
  )

  private val aggregates =
    "count(*) AS n, sum(x) AS sx, avg(x) AS ax, max(d) AS md, min(s) AS ms, " +
      "sum(m) AS sm, count(x) FILTER (WHERE d > 3) AS f, max_by(s, id) AS mb, sum(d) AS sd"

  for {
    window <- windows
    codegen <- Seq("CODEGEN_ONLY", "NO_CODEGEN")
    tags = if (window == windows(2)) Nil else Slow +: each(3)
  } test(s"hops are Spark's: $window, $codegen", tags: _*) {
    withSettings("spark.sql.codegen.factoryMode" -> codegen) {
      val query = s"SELECT window, k, $aggregates FROM events GROUP BY k, $window"
      check(query)
      check(below(query, window))
    }
  }

  test("hops are Spark's: no key, several, expressions of them, HAVING, none asked for") {
    val w = windows(2)
    check(s"SELECT window.end, $aggregates FROM events GROUP BY $w")
    check(s"SELECT sum(x), k, g FROM events GROUP BY $w, g, k HAVING count(*) > 2")
    check(s"SELECT k + 1, sum(x) * 2 + k FROM events GROUP BY k, $w")
    check(s"SELECT k % 2, window.start FROM events GROUP BY $w, k % 2")
    check(s"SELECT count(*) FROM (SELECT window, k FROM events GROUP BY k, $w)")
    check(s"SELECT k, window FROM events GROUP BY k, $w ORDER BY window.start DESC, k LIMIT 7")
    check(
      s"SELECT IF(k = 1, -0.0D, 0.0D) AS z, count(*) FROM events GROUP BY $w, IF(k = 1, -0.0D, 0.0D)"
    )
  }

  test("hops below and above other operators") {
    val hops = s"SELECT k, window, sum(x) AS sx FROM events GROUP BY k, ${windows(2)}"
    check(s"SELECT k, max(sx) FROM ($hops) GROUP BY k")
    check(s"SELECT a.k, a.window, b.sx FROM ($hops) a JOIN ($hops) b USING (k, window)")
    check(s"SELECT k, (SELECT max(sx) FROM ($hops) h WHERE h.k = e.k) FROM events e WHERE id < 9")
    check(s"SELECT count(*) FROM events WHERE x IN (SELECT sx FROM ($hops))")
    check(s"($hops) UNION ALL ($hops)")
    check(
      s"SELECT window(window, '1 minute').start, sum(sx) FROM ($hops) GROUP BY window(window, '1 minute')"
    )
    check(
      s"SELECT k, sum(sx) OVER (PARTITION BY k ORDER BY window.start ROWS 3 PRECEDING) FROM ($hops)"
    )
  }

  test("what is cached is found again") {
    events.createOrReplaceTempView("events")
    def query = spark.sql(s"SELECT k, window, sum(x) FROM events GROUP BY k, ${windows.head}")
    val frame = query.cache()
    try {
      val rows = frame.count()
      for (again <- Seq(frame.select("k"), query))
        assert(
          again.queryExecution.optimizedPlan.toString.contains("InMemoryRelation") &&
            again.count() == rows
        )
    } finally frame.unpersist()
  }

  test("overflow is Spark's error") {
    events.createOrReplaceTempView("events")
    val query = s"SELECT sum(x + 9223372036854775000) FROM events GROUP BY k, ${windows.head}"
    withSettings("spark.sql.ansi.enabled" -> "true") {
      val conditions = Seq(true, false).map { on =>
        withSettings(SashConf.HopsEnabled.key -> on.toString) {
          ErrorCondition.of(intercept[Throwable](spark.sql(query).collect()))
        }
      }
      assert(conditions.distinct == Seq("ARITHMETIC_OVERFLOW"))
    }
  }

  for {
    (query, why) <- Seq(
      s"SELECT collect_list(x) FROM events GROUP BY k, ${windows.head}" -> "collect_list",
      s"SELECT max(window.end) FROM (SELECT *, window(ts, '2 minutes', '1 minute') FROM events) GROUP BY k" ->
        "not grouped by the window itself"
    )
  } test(s"Spark keeps what has no partials: $query") {
    events.createOrReplaceTempView("events")
    val frame = spark.sql(query)
    assert(hopsOf(frame).isEmpty)
    val said = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
    if (why.nonEmpty) assert(said.contains("hops left to Spark") && said.contains(why))
  }

  test("EXPLAIN says what hops do") {
    events.createOrReplaceTempView("events")
    val frame = spark.sql(s"SELECT sum(x) FROM events GROUP BY k, ${windows(1)}")
    val said = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
    assert(said.contains("hops: sum by windows of 60 panes, Two-Stacks Lite"))
  }
}
