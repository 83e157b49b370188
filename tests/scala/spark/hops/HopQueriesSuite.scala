package io.sash.spark.hops

import org.apache.spark.sql.functions._

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, Thorough}

/** Hops in queries of all kinds. */
@Slow
class HopQueriesSuite extends HopChecks {
  private val w = "window(ts, '25 seconds', '10 seconds')"

  for (
    key <- Seq(
      "IF(k = 1, -0.0D, IF(k = 2, double('NaN'), 0.0D))",
      "float(nullif(d, 1))",
      "named_struct('a', k, 'b', IF(k = 1, -0.0D, 0.0D))",
      "array(k, g)",
      "array(IF(k = 1, -0.0F, 0.0F))",
      "encode(s, 'UTF-8')",
      "date_add(DATE'1960-02-28', int(id % 4))",
      "make_dt_interval(0, int(k))",
      "make_ym_interval(int(k))",
      "CAST(m / 7 AS DECIMAL(38, 18))",
      "ts",
      "CAST(ts AS TIMESTAMP_NTZ)",
      "k > 1",
      "tinyint(k)",
      "repeat(s, int(k))",
      "1 + 1",
      "NULL",
      "(SELECT max(id) FROM range(3))",
      "IF(id % 2 = 0, s, NULL)",
      "k, g, s, k % 2"
    )
  ) test(s"key $key", each(4): _*) {
    val query = s"SELECT $key, window, count(*), sum(x) FROM events GROUP BY $key, $w"
    checkBoth(query, w)
  }

  for (
    call <- Seq(
      "count_if(d > 3)",
      "bool_and(x > 3), bool_or(x IS NULL), every(d < 8)",
      "bit_and(x), bit_or(x), bit_xor(x)",
      "min_by(s, id), max_by(s, id), max_by(x, id)",
      "stddev(d), stddev_pop(x), variance(d)",
      "skewness(d), kurtosis(d)",
      "corr(d, x), covar_samp(d, x)",
      "regr_slope(d, x), regr_intercept(d, x), regr_r2(d, x), " +
        "regr_count(d, x), regr_avgx(d, x), regr_sxy(d, x)",
      "try_sum(x), try_avg(x), avg(m), sum(m), avg(CAST(m AS DECIMAL(38, 18)))",
      "sum(make_dt_interval(0, 0, 0, d)), avg(make_ym_interval(0, int(g)))",
      "max(struct(d, id)), min(array(d, id)), max(s)",
      "count(x, s), count(1), count(*) FILTER (WHERE d > 3 AND k IS NOT NULL)",
      "sum(x) + sum(x), sum(x) AS a, sum(x) AS b, avg(x) / count(*)",
      "max(ts), min(ts - INTERVAL 60 YEARS), max(k + 1) + k",
      "sum(d), avg(d), sum(nullif(d, 2))",
      "sum(x + (SELECT max(id) FROM range(3)))",
      "count(*) FILTER (WHERE x IN (SELECT id FROM range(30)))",
      "sum(CASE WHEN EXISTS (SELECT 1 FROM range(5) WHERE id > 3) THEN x END)",
      "sum(aggregate(sequence(1, g + 1), 0L, (a, b) -> a + b + x))",
      "max(named_struct('t', date_trunc('HOUR', ts), 'z', current_timezone()))",
      "geometric_mean(d + 1), max_count(x)"
    )
  ) test(s"aggregate $call", each(4): _*) {
    val query = s"SELECT k, window, $call FROM events GROUP BY k, $w"
    checkBoth(query, w)
  }

  for (
    query <- Seq(
      s"SELECT window_time(window), n FROM (SELECT window, count(*) n FROM events GROUP BY $w)",
      s"SELECT k, window FROM events GROUP BY k, $w HAVING sum(x) > 100 AND window.start > TIMESTAMP'2020-09-13 14:26:50'",
      s"SELECT DISTINCT window FROM events GROUP BY k, $w",
      s"WITH h AS (SELECT k, window w, sum(x) sx FROM events GROUP BY k, $w) SELECT a.k, a.w, b.sx FROM h a JOIN h b ON a.k = b.k AND a.w.end = b.w.start + INTERVAL 5 SECONDS",
      s"SELECT * FROM (SELECT k, window w, sum(x) sx FROM events GROUP BY k, $w) WHERE k = 1 AND sx > 3 AND w.start IS NOT NULL",
      s"SELECT * FROM (SELECT k, k + 1 AS l, window w, sum(x) sx FROM events GROUP BY k, $w) WHERE l = 2 OR k IS NULL",
      s"SELECT count(*) FROM (SELECT k, window w, sum(x) sx, max(s) FROM events GROUP BY k, $w) WHERE 1 + 1 = 2",
      s"SELECT k, max(n) FROM (SELECT k, count(*) n, sum(x), max(d) FROM events GROUP BY k, $w) GROUP BY k",
      s"SELECT * FROM (SELECT k, sum(x) sx FROM events GROUP BY k, window) PIVOT (sum(sx) FOR k IN (0, 1))"
        .replace("window)", s"$w)"),
      s"SELECT x, (SELECT max(c) FROM (SELECT g, count(*) c FROM events GROUP BY g, $w) h WHERE h.g < e.g) FROM events e WHERE id < 40",
      s"SELECT * FROM events e WHERE EXISTS (SELECT 1 FROM (SELECT k, count(*) c FROM events GROUP BY k, $w) h WHERE h.k = e.k AND c > 10)",
      s"SELECT k, window, count(*) FROM (SELECT * FROM events e WHERE EXISTS (SELECT 1 FROM events f WHERE f.id = e.id + 1 AND f.k <> e.k)) GROUP BY k, $w",
      s"SELECT a.k, a.c, b.c FROM (SELECT k, count(*) c FROM events GROUP BY k, $w) a LEFT JOIN (SELECT k, window, max(d) c FROM events WHERE x > 30 GROUP BY k, $w) b USING (k)",
      s"SELECT k, count(*) FROM (SELECT e.k, f.ts FROM events e JOIN events f ON e.id = f.id * 2) GROUP BY k, $w",
      s"SELECT k, window, sum(n) FROM (SELECT k, window(window, '1 minute', '30 seconds') AS window, sum(n) n FROM (SELECT k, window, count(*) n FROM events GROUP BY k, $w) GROUP BY 1, 2) GROUP BY 1, 2"
        .replace(
          "GROUP BY 1, 2) GROUP",
          "GROUP BY k, window(window, '1 minute', '30 seconds')) GROUP"
        ),
      s"SELECT g, window, sum(x) FROM events TABLESAMPLE (100 PERCENT) WHERE ts > TIMESTAMP'2020-09-13 14:00:00' GROUP BY g, $w ORDER BY ALL LIMIT 40 OFFSET 3",
      s"SELECT k, window, sum(x) FROM events GROUP BY ALL".replace("window,", s"$w,"),
      s"SELECT g, collect_set(k), count(*) FROM (SELECT g, k, count(*) FROM events GROUP BY k, g, $w HAVING count(*) > 2) GROUP BY g"
        .replace("collect_set(k)", "sort_array(collect_set(k))"),
      s"SELECT k AS k, k AS k2, window AS a, window AS b, window.end, window.end - window.start FROM events GROUP BY k, $w",
      s"SELECT sx, row_number() OVER (PARTITION BY k ORDER BY w) FROM (SELECT k, window w, sum(x) sx FROM events GROUP BY k, $w)",
      s"(SELECT k, window FROM events GROUP BY k, $w) EXCEPT (SELECT k, window FROM events WHERE x > 10 GROUP BY k, $w)",
      s"SELECT k, sum(x) FROM events LATERAL VIEW explode(array(1, 2)) AS y GROUP BY k, y, $w",
      "SELECT k, window, sum(x) FROM events GROUP BY k, window(ts, '5 microseconds', '3 microseconds')",
      "SELECT k, window, sum(x) FROM events GROUP BY k, window(ts, '7 days', '1 day', '-3 hours')",
      "SELECT k, window, sum(x) FROM events GROUP BY k, window(ts - INTERVAL 1900 YEARS, '1 hour', '11 minutes', '-3 minutes')",
      "SELECT k, window, sum(x) FROM events GROUP BY k, window(CAST(ts AS DATE), '2 days', '1 day')",
      "SELECT k, window, sum(x) FROM events GROUP BY k, window(CAST(ts AS STRING), '2 minutes', '1 minute')",
      "SELECT k, window, sum(x) FROM events GROUP BY k, window(to_timestamp('2020-03-29 01:59:00') + make_dt_interval(0, 0, int(id)), '2 hours', '45 minutes')",
      "SELECT window, sum(x) FROM events GROUP BY window(TIMESTAMP'2020-01-01 00:00:00', '2 minutes', '1 minute')",
      "SELECT k, window, count(*) FROM events WHERE id = 7 GROUP BY k, window(ts, '2 minutes', '1 minute')"
    )
  ) test(query, each(5): _*) {
    for (
      adaptive <- Seq("true", "false"); ansi <- Seq("true", "false");
      if Thorough.isOn || adaptive == ansi
    )
      withSettings(
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.ansi.enabled" -> ansi,
        "spark.sql.shuffle.partitions" -> (if (ansi == "true") "2" else "5")
      )(check(query))
    if (
      query
        .contains(w) && !Seq(" JOIN events", "LATERAL VIEW", "TABLESAMPLE").exists(query.contains)
    )
      check(below(query, w))
  }

  for (
    (query, why) <- Seq(
      s"SELECT k, first(id) FROM (SELECT * FROM events ORDER BY id DESC) GROUP BY k, $w" -> "order in which rows",
      s"SELECT k, last(id, true) FROM events GROUP BY k, $w" -> "order in which rows",
      s"SELECT count(*) FROM events GROUP BY map(g, k), $w" -> "by which nothing is sorted",
      s"SELECT count(*) FROM events GROUP BY s COLLATE UTF8_LCASE, $w" -> "differ in their bytes",
      s"SELECT approx_count_distinct(x), hll_sketch_estimate(hll_sketch_agg(x)) FROM events GROUP BY k, $w" -> "another approximation",
      s"SELECT percentile_approx(x, 0.5) FROM events GROUP BY k, $w" -> "percentile_approx",
      s"SELECT mode(g), listagg(s) FROM events WHERE id < 5 GROUP BY k, $w" -> "listagg",
      s"SELECT any_value(k) FROM events GROUP BY k, $w" -> "order in which rows",
      s"SELECT k, count(*) FROM events GROUP BY k, date_trunc('minute', $w.start)" -> "window itself",
      s"SELECT k, window, count(*) FROM events GROUP BY ROLLUP(k, $w)" -> "GROUPING SETS lies between",
      s"SELECT k, window, count(*) FROM events GROUP BY k, $w GROUPING SETS ((k), (k, $w))" -> "GROUPING SETS lies between",
      s"SELECT DISTINCT $w FROM events" -> "",
      "SELECT k, window, count(*) FROM events GROUP BY k, window(ts, '2 microseconds', '1 microsecond')" -> "",
      "SELECT k, window, count(*) FROM events GROUP BY k, window(ts, '3 microseconds', '2 microseconds', '-1 microsecond')" -> "",
      "SELECT k, window, count(*) FROM events GROUP BY k, window(timestamp_seconds(id + int(rand(1)) * 0), '20 seconds', '10 seconds')" -> ""
    )
  ) test(s"left to Spark: $query", each(3): _*) {
    checkLeft(query, why)
  }

  test("a condition on keys reaches the rows, and what nobody reads is not aggregated") {
    events.createOrReplaceTempView("events")
    val frame = spark.sql(
      s"SELECT k, n FROM (SELECT k, window, count(*) n, max(d), sum(x) FROM events GROUP BY k, $w) " +
        "WHERE k = 1 AND n > 2"
    )
    assert(hopsOf(frame).map(_.answers.length) == Seq(1))
    val plan = frame.queryExecution.optimizedPlan
    val below = plan.collect { case h: HopWindows => h.child }
    assert(below.flatMap(_.expressions).nonEmpty)
    assert(
      plan
        .collect { case f: org.apache.spark.sql.catalyst.plans.logical.Filter => f }
        .exists(f =>
          f.condition.sql.contains("= 1L") && f.child.collect { case h: HopWindows => h }.isEmpty
        )
    )
  }

  test("an exchange by keys serves panes and windows") {
    events.createOrReplaceTempView("events")
    for (adaptive <- Seq("true", "false"); key <- Seq("k, g", "s", "1 + 1", ""))
      withSettings("spark.sql.adaptive.enabled" -> adaptive) {
        val frame = spark.sql(
          s"SELECT count(*), max(s) FROM events GROUP BY ${(Seq(key).filter(_.nonEmpty) :+ w).mkString(", ")}"
        )
        frame.collect()
        val exchanges = collect(frame.queryExecution.executedPlan) {
          case e: org.apache.spark.sql.execution.exchange.Exchange => e
        }
        assert(
          hopsOf(frame).length == 1 && exchanges.length == 1,
          frame.queryExecution.executedPlan
        )
      }
  }

  test("self joins and unions of one DataFrame, and what it is read by") {
    def hops = spark
      .table("events")
      .groupBy(col("k"), window(col("ts"), "25 seconds", "10 seconds"))
      .agg(sum("x").as("sx"), count(lit(1)).as("n"), max("s").as("ms"))
    events.createOrReplaceTempView("events")
    checkFrame("join by names")({ val h = hops; h.join(h, Seq("k", "window")) })
    checkFrame("join of aliases")({
      val h = hops
      h.as("a")
        .join(
          h.as("b"),
          expr("a.k = b.k AND a.window.start = b.window.end - INTERVAL 15 SECONDS")
        )
        .select("a.n", "b.sx")
    })
    checkFrame("union")({ val h = hops; h.union(h).union(h.filter("k = 1")) })
    checkFrame("semi")({ val h = hops; h.join(h.filter("n > 3"), Seq("k"), "left_semi") })
    checkFrame("broadcast")({
      val h = hops; h.join(broadcast(h.filter("n > 3")), Seq("k", "window"), "left")
    })
    checkFrame("select of a select")(hops.select(col("window.start"), col("n") + 1).distinct())
    checkFrame("drop")(hops.drop("window", "sx", "n", "ms"))
    checkFrame("stat")(hops.summary("count", "max"))
    checkFrame("groupBy of it")(
      hops.groupBy(window(col("window"), "1 minute", "20 seconds"), col("k")).agg(sum("n"))
    )
    checkFrame("repartition")(hops.repartition(3, col("k")).sortWithinPartitions("n").coalesce(1))
    checkFrame("rdd")({ val h = hops; spark.createDataFrame(h.rdd, h.schema).union(hops) })
  }

  test("files, tables and views") {
    events.createOrReplaceTempView("events")
    val query = s"SELECT k, window.start AS at, sum(x) AS sx FROM events GROUP BY k, $w"
    val expected = withHops(on = false)(rowsOf(spark.sql(query)))
    spark.sql("DROP TABLE IF EXISTS hopped")
    spark.sql(s"CREATE TABLE hopped USING parquet AS $query")
    assert(rowsOf(spark.table("hopped")) == expected)
    spark.sql(s"INSERT OVERWRITE hopped $query")
    assert(rowsOf(spark.table("hopped")) == expected)
    spark.sql("DROP TABLE hopped")
    spark.sql(s"CREATE OR REPLACE TEMP VIEW hopping AS $query")
    check("SELECT a.k, a.at, b.sx FROM hopping a JOIN hopping b USING (k, at)")
  }

  test("a cached query is made again when its table changes, and given up") {
    spark.sql("DROP TABLE IF EXISTS source")
    events.write.saveAsTable("source")
    for (
      query <- Seq(
        s"SELECT k, window, sum(x) AS sx, max(s) AS ms FROM source GROUP BY k, $w",
        s"SELECT a.k, b.sx FROM (SELECT k, sum(x) AS sx FROM source GROUP BY k, $w) a JOIN (SELECT k, sum(x) AS sx FROM source GROUP BY k, $w) b ON a.k = b.k AND a.sx < b.sx"
      )
    ) withClue(query) {
      spark.sql(s"CACHE TABLE cached AS $query")
      assert(rowsOf(spark.table("cached")) == withHops(on = false)(rowsOf(spark.sql(query))))
      spark.sql(
        "INSERT INTO source SELECT id + 1000, k, g, ts, x, d, s, m FROM source WHERE id < 9"
      )
      assert(rowsOf(spark.table("cached")) == withHops(on = false)(rowsOf(spark.sql(query))))
      assert(spark.catalog.isCached("cached"))
      spark.sql("UNCACHE TABLE cached")
      assert(!spark.catalog.isCached("cached"))
      spark.sql("DROP VIEW cached")
    }
    spark.sql("DROP TABLE source")
  }

  test("a query that was cached is found, and given up, after Sash was switched") {
    events.createOrReplaceTempView("events")
    for (cachedOn <- Seq(true, false); on <- Seq(true, false)) withClue(s"$cachedOn, $on") {
      val query = s"SELECT k, window, sum(x) AS sx FROM events GROUP BY k, $w"
      withSash(cachedOn)(spark.sql(s"CACHE TABLE cached AS $query"))
      val expected = withSash(enabled = false)(rowsOf(spark.sql(query)))
      withSash(on) {
        assert(rowsOf(spark.table("cached")) == expected)
        spark.sql("UNCACHE TABLE cached")
        spark.sql("DROP VIEW cached")
      }
      assert(spark.sharedState.cacheManager.isEmpty)
    }
  }

  test("decimals at their limit") {
    val most = "99999999999999999999999999999999999999"
    events.createOrReplaceTempView("events")
    for (ansi <- Seq("true", "false"))
      withSettings("spark.sql.ansi.enabled" -> ansi) {
        check(
          s"SELECT k, sum(IF(id = 5, ${most}BD, 0BD)) FROM events WHERE id > 3 GROUP BY k, $w"
        )
        val over =
          s"SELECT k, sum(IF(id < 50, ${most}BD, 0BD)) FROM events GROUP BY k, window(ts, '2 hours', '1 hour')"
        if (ansi == "false") check(over)
        else
          for (on <- Seq(true, false)) withHops(on) {
            val condition = ErrorCondition.of(intercept[Throwable](spark.sql(over).collect()))
            assert(
              condition.contains("OVERFLOW") || condition.contains("OUT_OF_RANGE"),
              condition
            )
          }
      }
  }

  test("times at the end of time fail as Spark's") {
    val query =
      "SELECT count(*) FROM (SELECT timestamp_micros(9223372036854775000 + id) AS ts FROM range(3)) " +
        "GROUP BY window(ts, '25 seconds', '10 seconds')"
    val conditions = Seq(true, false).map { on =>
      withHops(on)(ErrorCondition.of(intercept[Throwable](spark.sql(query).collect())))
    }
    assert(conditions.distinct == Seq("ARITHMETIC_OVERFLOW"))
  }

  test("the promises of order and partitions") {
    import io.sash.spark.{CheckedExec, CheckedPromises}
    events.createOrReplaceTempView("events")
    for (adaptive <- Seq("true", "false"); key <- Seq("k, ", "k, g, ", "s, ", ""))
      withSettings(
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.shuffle.partitions" -> "5"
      ) {
        CheckedPromises.whileOn {
          val frame = spark.sql(s"SELECT ${key}window, sum(x) FROM events GROUP BY $key$w")
          frame.collect()
          val checked = collect(frame.queryExecution.executedPlan) { case c: CheckedExec => c }
          assert(checked.nonEmpty && checked.forall(_.rowsSeen.value > 20))
          checked.foreach(c => assert(CheckedPromises.broken(c).isEmpty))
        }
      }
  }
}
