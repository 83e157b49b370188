package io.sash.spark.hops

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

import org.scalatest.tags.Slow

import io.sash.spark.Explain

/** Windows that are made below the aggregate, with other operators in between. */
@Slow
class HopFormsSuite extends HopChecks {
  private val w = "window(ts, '25 seconds', '10 seconds')"
  private val windowed = s"SELECT *, $w AS w FROM events"

  for (
    (query, i) <- Seq(
      s"SELECT k, w, sum(x), count(*) FROM ($windowed) GROUP BY k, w",
      s"SELECT k, w.start, w.end, sum(x) AS sx FROM ($windowed) GROUP BY k, w",
      s"SELECT k, window, max(d) FROM (SELECT *, $w FROM events) GROUP BY k, window",
      s"SELECT v, sum(y), l FROM (SELECT w AS v, x + 1 AS y, k * 2 AS l FROM ($windowed)) GROUP BY v, l",
      s"SELECT w, count(*) FROM (SELECT k, x, w FROM (SELECT * FROM ($windowed) WHERE x > 10) WHERE k > 0) GROUP BY w",
      s"WITH e AS ($windowed) SELECT k, w, sum(x) FROM e WHERE x < 90 GROUP BY k, w",
      s"WITH e AS ($windowed) SELECT a.k, a.n, b.n FROM (SELECT k, w, count(*) n FROM e GROUP BY k, w) a JOIN (SELECT k, w, max(x) n FROM e GROUP BY k, w) b USING (k, w)",
      s"SELECT k, (SELECT max(n) FROM (SELECT k, w, count(*) n FROM ($windowed) GROUP BY k, w) h WHERE h.k = e.k) FROM events e WHERE id < 9",
      // a time that is another one above
      s"SELECT k, w, max(ts) FROM (SELECT k, w, x AS ts FROM ($windowed)) GROUP BY k, w",
      s"SELECT k, w, max(ts) FROM (SELECT k, w, ts - INTERVAL 1 HOUR AS ts FROM ($windowed)) WHERE ts IS NOT NULL GROUP BY k, w",
      // conditions on windows
      s"SELECT k, w, sum(x) FROM ($windowed) WHERE w.start >= timestamp_seconds(1600000100) AND x > 20 GROUP BY k, w",
      s"SELECT k, w, sum(x) FROM ($windowed) WHERE second(w.start) = 0 GROUP BY k, w",
      s"SELECT k, w, sum(x) FROM ($windowed) WHERE w.end < timestamp_seconds(1600000150 + k * 20) GROUP BY k, w",
      s"SELECT l, w, sum(x) FROM (SELECT k AS l, w, x FROM ($windowed) WHERE w.end < timestamp_seconds(1600000150 + k * 20)) GROUP BY l, w",
      s"SELECT k, w, sum(x) FROM ($windowed) WHERE w.start > (SELECT min(ts) FROM events) GROUP BY k, w",
      s"SELECT k, w, sum(x) FROM ($windowed) WHERE w.start IN (timestamp_seconds(1600000100), timestamp_seconds(1600000120)) GROUP BY k, w HAVING count(*) > 1",
      s"SELECT k, w, count(*) FROM ($windowed) WHERE x IN (SELECT id FROM range(50)) AND EXISTS (SELECT 1 FROM range(3) r WHERE r.id = k) GROUP BY k, w",
      // its fields
      s"SELECT k, w.start, w.end, sum(x) FROM ($windowed) GROUP BY k, w.start, w.end",
      s"SELECT k, w.end, count(*) FROM ($windowed) GROUP BY k, w.end",
      s"SELECT b, w, k, sum(x) FROM (SELECT *, w.start AS b, date_trunc('minute', w.end) AS c FROM ($windowed)) GROUP BY k, w, b, c",
      s"SELECT k, t, n FROM (SELECT k, w, window_time(w) AS t, count(*) AS n FROM ($windowed) GROUP BY k, w, window_time(w))",
      s"SELECT k, w.start, sum(x) FROM events GROUP BY k, $w, $w.end"
        .replace("w.start", s"$w.start"),
      // what nobody reads
      s"SELECT k, w, sum(x) FROM (SELECT *, rand() AS r, w.end - ts AS age FROM ($windowed)) GROUP BY k, w",
      // hops of hops, a window of windows
      s"SELECT v, sum(n) FROM (SELECT *, window(w, '1 minute', '20 seconds') AS v FROM (SELECT k, w, count(*) n FROM ($windowed) GROUP BY k, w)) GROUP BY v",
      s"SELECT k, w, sum(x) FROM ($windowed) WHERE id < 200 GROUP BY k, w"
        .replace("10 seconds", "200 milliseconds")
    ).zipWithIndex
  ) test(query, each(4): _*) {
    withSettings("spark.sql.ansi.enabled" -> (i % 2 == 0).toString)(check(query))
  }

  private def rows: DataFrame = spark.table("events")

  private val hop = window(col("ts"), "25 seconds", "10 seconds")

  for (
    (name, query) <- Seq[(String, DataFrame => DataFrame)](
      "withColumn" -> (_.withColumn("w", hop).groupBy("k", "w").agg(sum("x"), count(lit(1)))),
      "select" -> (_.select(col("*"), hop).groupBy("window", "k").agg(max("d"))),
      "withColumns" -> (_.withColumns(Map("w" -> hop, "y" -> (col("x") * 2)))
        .groupBy("w")
        .agg(sum("y"))),
      "many columns" -> (_.withColumn("w", hop)
        .withColumn("y", col("x") + 1)
        .drop("x", "ts")
        .withColumnRenamed("w", "v")
        .filter("y > 3")
        .groupBy(col("v"), col("k") % 2)
        .agg(sum("y").as("sy"))
        .select("v.start", "sy")),
      "where on the window" -> (_.withColumn("w", hop)
        .where("w.start >= timestamp_seconds(1600000100)")
        .groupBy("k", "w")
        .agg(sum("x"))),
      "a Python-like loop of columns" -> (e =>
        (1 to 5)
          .foldLeft(e.withColumn("w", hop))((f, i) => f.withColumn(s"c$i", col("x") * i))
          .groupBy("w", "k")
          .agg(sum("c1"), sum("c5"))
      ),
      "a frame that is read twice" -> { e =>
        val h = e.withColumn("w", hop)
        h.groupBy("k", "w").agg(sum("x")).union(h.where("x > 3").groupBy("k", "w").agg(max("x")))
      },
      "an alias and a self join" -> { e =>
        val h = e.withColumn("w", hop).as("h").groupBy("h.k", "h.w").agg(sum("h.x").as("sx"))
        h.join(h, Seq("k", "w"))
      }
    )
  ) test(s"DataFrames: $name", each(2): _*) {
    events.createOrReplaceTempView("events")
    checkFrame(name)(query(rows))
    val found = hopsOf(query(rows))
    assert(found.flatMap(_.condition).nonEmpty || !name.startsWith("where"))
    assert(found.length == 2 || !name.endsWith("twice"))
  }

  test("a view of rows and their windows") {
    events.createOrReplaceTempView("events")
    spark.sql(s"CREATE OR REPLACE TEMP VIEW windowed AS $windowed")
    check("SELECT k, w, sum(x) FROM windowed GROUP BY k, w")
    rows.withColumn("w", hop).createOrReplaceTempView("windowed")
    check("SELECT k, w, sum(x) FROM windowed v WHERE v.x > 2 GROUP BY k, w")
    spark.sql("DROP VIEW windowed")
  }

  for (
    (query, why) <- Seq(
      s"SELECT k, w, sum(y) FROM ($windowed) LATERAL VIEW explode(array(1, 2)) AS y GROUP BY k, w" -> "explode",
      s"SELECT a.k, w, count(*) FROM ($windowed) a JOIN events b ON a.id = b.id GROUP BY a.k, w" -> "a join lies between",
      s"SELECT k, w, count(*) FROM (SELECT DISTINCT k, w FROM ($windowed)) GROUP BY k, w" -> "DISTINCT lies",
      s"SELECT k, w, count(*) FROM ($windowed ORDER BY id LIMIT 5) GROUP BY k, w" -> "LIMIT lies",
      s"SELECT k, w, count(*) FROM ($windowed UNION ALL $windowed) GROUP BY k, w" -> "UNION lies",
      s"SELECT k, max(w.end) FROM ($windowed) GROUP BY k" -> "not grouped by the window",
      s"SELECT k, count(*) FROM ($windowed) GROUP BY k, date_trunc('minute', w.start)" -> "not grouped by the window",
      s"SELECT k, w, max(w.end - ts) FROM ($windowed) GROUP BY k, w" -> "reads the window",
      s"SELECT k, w, count(*) FROM ($windowed) GROUP BY k, w, w.end > ts + INTERVAL 3 SECONDS" -> "reads the window and other columns",
      s"SELECT k, w, count(*) FROM ($windowed) WHERE w.end > ts + INTERVAL 3 SECONDS GROUP BY k, w" -> "columns that rows are not grouped by",
      s"SELECT k, w, count(*) FROM ($windowed) WHERE rand(1) < 2 GROUP BY k, w" -> "is not deterministic",
      s"SELECT k, w, count(r) FROM (SELECT *, rand(2) AS r FROM ($windowed)) GROUP BY k, w" -> "not deterministic",
      s"SELECT k, w, count(*) FROM (SELECT *, int(rand(3)) AS r FROM ($windowed)) GROUP BY k, w, r" -> "not deterministic",
      s"SELECT k, w, count(*) FROM ($windowed) WHERE EXISTS (SELECT 1 FROM range(3) r WHERE r.id = second(w.start) % 4) GROUP BY k, w" -> "a subquery reads the window",
      s"SELECT k, w, count(*) FROM ($windowed) e WHERE second(w.start) > (SELECT max(id) FROM range(9) r WHERE r.id = e.k) GROUP BY k, w" -> "a subquery beside the window reads other columns",
      s"SELECT k, w, percentile_approx(x, 0.5) FROM ($windowed) GROUP BY k, w" -> "another approximation",
      s"SELECT k, w, count(*) FROM ($windowed) GROUP BY ROLLUP(k, w)" -> "GROUPING SETS lies"
    )
  ) test(s"left to Spark: $query", each(2): _*) {
    checkLeft(query, why)
  }

  test("windows that nobody groups by are Spark's, of few and of many a row") {
    events.createOrReplaceTempView("events")
    for (slide <- Seq("10 seconds", "200 milliseconds")) {
      def of(hops: Boolean) = withHops(hops) {
        spark
          .table("events")
          .where("id < 40")
          .withColumn("w", window(col("ts"), "25 seconds", slide))
          .select("id", "w", "k")
      }
      // Java for so many copies does not compile
      withSettings(
        "spark.sql.codegen.wholeStage" -> "false",
        "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
      ) {
        assert(of(true).schema == of(false).schema)
        assert(of(true).collect().toSeq == of(false).collect().toSeq)
      }
    }
  }

  test("rows that are cached with their windows are read from there") {
    events.createOrReplaceTempView("events")
    val cached = rows.withColumn("w", hop).cache()
    try {
      val frame = cached.groupBy("k", "w").agg(sum("x"))
      assert(frame.queryExecution.optimizedPlan.toString.contains("InMemoryRelation"))
      assert(hopsOf(frame).isEmpty)
      val said = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
      assert(said.contains("hops left to Spark: the rows are cached with their windows"))
    } finally cached.unpersist()
    val source = rows.cache()
    try {
      val frame = source.withColumn("w", hop).groupBy("k", "w").agg(sum("x"))
      assert(frame.queryExecution.optimizedPlan.toString.contains("InMemoryRelation"))
      assert(hopsOf(frame).nonEmpty)
    } finally source.unpersist()
  }
}
