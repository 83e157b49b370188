package io.sash.spark.slices

import org.apache.spark.TaskContext
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.functions.udf

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Explain, SashSuite}
import io.sash.spark.base.SashConf

/** Events that are of no label are left out, and no label loses one, combined or not. */
final class EventsOfNoLabelSuite extends SashSuite {
  private val threshold = SashConf.LateralSliceThreshold.key

  /** 40 labels of 20 of the users, 20,000 events of 100 users, spread over 1,000 hours. */
  private def tables(key: String = "BIGINT", time: String = "TIMESTAMP"): Unit = {
    def made(ids: String, users: Int, hours: String, more: String, rows: Int) = spark.sql(
      s"SELECT $ids, CAST(id % $users AS $key) AS k, " +
        s"CAST(TIMESTAMP'2026-01-01' + make_dt_interval(0, $hours) AS $time) AS t, $more " +
        s"FROM range(0, $rows, 1, 3)"
    )
    made("id", 20, "CAST(id * 37 % 1000 AS INT)", "id AS w", 40).createOrReplaceTempView("labels")
    made("id AS n", 100, "CAST(id * 13 % 1000 AS INT), CAST(id % 60 AS INT)", "id AS x", 20000)
      .createOrReplaceTempView("events")
  }

  /** A sum of events is combined, their list is not. */
  private def sum(range: String, key: String = "e.k = l.k AND ", events: String = "events") =
    s"(SELECT sum(e.x) FROM $events e WHERE $key e.t $range)"

  private def list(sums: String) =
    sums.replace("(SELECT sum(e.x)", "(SELECT sort_array(collect_list(e.x))")

  private val hour = "BETWEEN l.t - INTERVAL '1' HOUR AND l.t"

  private def slices(frame: DataFrame): Seq[EventSlicesExec] =
    collectWithSubqueries(frame.queryExecution.executedPlan) { case s: EventSlicesExec => s }

  /**
   * The same rows without Sash and with slices, whether events are combined or not; how many of
   * them are exchanged if they are not.
   */
  private def passed(query: String, settings: (String, String)*): Seq[Long] = {
    val combined = passedAsIs(query, settings: _*)
    val all = passedAsIs(list(query), settings: _*)
    assert(combined.length == all.length && combined.zip(all).forall { case (c, a) => c <= a })
    all
  }

  private def passedAsIs(query: String, settings: (String, String)*): Seq[Long] = {
    val all = Seq(threshold -> "0", "spark.sql.shuffle.partitions" -> "2") ++ settings
    withSettings(all: _*) {
      val expected = withSash(enabled = false)(spark.sql(query).collect())
      val frame = spark.sql(query)
      val rows = frame.collect()
      assert(rows.map(_.toString).sorted sameElements expected.map(_.toString).sorted)
      assert(expected.nonEmpty && sliding(frame).nonEmpty)
      slices(frame).map(_.metrics("numOutputRows").value)
    }
  }

  private val ways = Seq(
    "interpreted" -> Seq(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    ),
    "no adaptive execution" -> Seq("spark.sql.adaptive.enabled" -> "false")
  )

  for {
    time <- Seq("TIMESTAMP", "TIMESTAMP_NTZ")
    key <- Seq("BIGINT", "STRING", "DECIMAL(20, 0)")
  } test(s"an hour before each of a few labels: $key, $time", Slow +: each(3): _*) {
    tables(key, time)
    val few = passed(s"SELECT l.*, ${sum(hour)} AS s FROM labels l")
    assert(few.length == 1 && few.head < 1000, few)
  }

  for ((way, settings) <- ways)
    test(s"an hour before each of a few labels: $way", Slow +: each(2): _*) {
      tables()
      val few = passed(s"SELECT l.*, ${sum(hour)} AS s FROM labels l", settings: _*)
      assert(few.length == 1 && few.head < 1000, few)
    }

  test("keys alone, where the range has no beginning or is the label's own") {
    tables()
    for (range <- Seq("<= l.t", "BETWEEN l.t - make_interval(0, 0, 0, l.w) AND l.t")) {
      val some = passed(s"SELECT l.*, ${sum(range)} AS s FROM labels l")
      assert(some.length == 1 && some.head > 500 && some.head < 6000, some)
    }
  }

  test("times alone") {
    tables()
    val few = passed(s"SELECT l.*, ${sum(hour, key = "")} AS s FROM labels l")
    assert(few.length == 1 && few.head < 5000, few)
  }

  test("several ranges, conditions of the label, and two tables") {
    tables()
    val later = "BETWEEN l.t + INTERVAL '2' HOURS AND l.t + INTERVAL '23' HOURS AND l.w % 4 > 0"
    val query = s"SELECT l.*, ${sum(hour)} a, ${sum(later)} b, " +
      s"${sum(hour, events = "(SELECT * FROM events WHERE x % 3 = 0)")} c FROM labels l"
    val few = passed(query)
    assert(few.length == 2 && few.forall(_ < 3000), few)
    assert(spark.sql(query).where("b IS NOT NULL").count() > 3)
  }

  test("two unions, by other keys of the label") {
    tables()
    val query =
      s"SELECT l.*, ${sum(hour)} a, ${sum(hour, "e.n % 100 = l.w AND ")} b FROM labels l"
    val few = passed(query)
    assert(few.length == 2 && few.forall(_ < 5000), few)
  }

  test("keys that are NULL on both sides") {
    tables()
    val key = "nullif(e.k, 3) <=> nullif(l.k, 3) AND "
    val some = passed(s"SELECT l.*, ${sum(hour, key)} AS s FROM labels l")
    assert(some.length == 1)
    spark.table("events").selectExpr("nullif(k, 3) AS k", "t", "x").createOrReplaceTempView("n")
    val few = passed(
      s"SELECT l.*, ${sum(hour, "e.k <=> l.k AND ", "n")} AS s " +
        "FROM (SELECT id, nullif(k, 3) AS k, t FROM labels) l"
    )
    assert(few.length == 1 && few.head < 1000, few)
  }

  test("most events are of a label: they pass without a look") {
    tables()
    spark
      .sql("SELECT id, id % 100 AS k, TIMESTAMP'2026-02-11' AS t FROM range(1000)")
      .createOrReplaceTempView("many")
    val range = "BETWEEN l.t - INTERVAL '99' DAYS AND l.t"
    // the first block of each of three tasks is looked up
    val most = passed(s"SELECT l.*, ${sum(range)} AS s FROM many l")
    assert(most.length == 1 && most.head > 19500 && most.head < 20000, most)
  }

  test("events that are a union, a join and groups") {
    tables()
    val union = "(SELECT k, t, x FROM events UNION ALL SELECT k, t, -x FROM events)"
    val joined = "(SELECT a.k, a.t, a.x FROM events a JOIN labels b ON a.n = b.id)"
    val groups = "(SELECT k, t, max(x) AS x FROM events GROUP BY k, t)"
    for ((events, times) <- Seq(union -> 2, joined -> 1, groups -> 1)) {
      val few = passed(s"SELECT l.*, ${sum(hour, events = events)} AS s FROM labels l")
      assert(few.length == times && few.forall(_ < 1000), few)
    }
  }

  test("a group of no label is not torn apart where look-ups rest") {
    // groups of two or three events lie across the blocks of the filter
    val hours = "make_dt_interval(0, CAST(n DIV 100 % 1000 AS INT))"
    spark
      .sql(
        s"""SELECT n % 100 AS k, TIMESTAMP'2026-01-01' + $hours AS t, id AS x
           |FROM (SELECT id, (greatest(id, 1) + 1) DIV 2 AS n FROM range(0, 40001, 1, 1))
           |""".stripMargin
      )
      .createOrReplaceTempView("pairs")
    spark
      .sql("SELECT id, id AS k, TIMESTAMP'2026-03-01' AS t FROM range(80)")
      .createOrReplaceTempView("most")
    val span = "BETWEEN l.t - INTERVAL '90' DAYS AND l.t"
    for (
      counted <- Seq(
        "(SELECT k, t, 10 DIV (count(*) - 1) AS x FROM pairs GROUP BY k, t)",
        "(SELECT k, t, 10 DIV (count(*) OVER (PARTITION BY k, t) - 1) AS x FROM pairs)"
      )
    ) passed(s"SELECT l.*, ${sum(span, events = counted)} AS s FROM most l")
  }

  test("a key that fails for events which a join removes is not computed for them") {
    tables()
    spark
      .sql("SELECT n, IF(n % 3 = 0, string(n % 100), 'bad') AS s, t, x FROM events")
      .createOrReplaceTempView("raw")
    spark.sql("SELECT id * 3 AS n FROM range(7000)").createOrReplaceTempView("good")
    for (kept <- Seq("JOIN good g ON r.n = g.n", "WHERE r.n IN (SELECT n FROM good)")) {
      val events = s"(SELECT CAST(r.s AS BIGINT) AS k, r.t, r.x FROM raw r $kept)"
      val some = passed(
        s"SELECT l.*, ${sum(hour, "e.k <=> nullif(l.k, 3) AND ", events)} AS s FROM labels l"
      )
      assert(some.length == 1)
    }
  }

  test("a label's time that fails where the label has no events fails nowhere") {
    tables()
    val time = "CAST(l.day AS TIMESTAMP)"
    val day = "l.day <> '' AND e.day = l.day AND "
    val found = sum(
      s">= $time AND e.t < $time + INTERVAL '5' HOUR",
      day,
      "(SELECT string(t) AS day, t, x FROM events)"
    )
    val labels = "(SELECT id, IF(w % 2 = 0, string(t), '') AS day FROM labels)"
    val few = passed(s"SELECT l.id, $found AS s FROM $labels l")
    assert(few.length == 1 && few.head < 1000, few)
  }

  test("a key of labels that fails is the error that it is without the filter") {
    tables()
    val labels = "(SELECT id, CAST(concat(k, 'x') AS BIGINT) AS k, t FROM labels)"
    withSettings(threshold -> "0") {
      val error = checkFails(s"SELECT l.*, ${sum(hour)} AS s FROM $labels l")
      assert(error == "CAST_INVALID_INPUT")
    }
  }

  test("labels of a CTE, of a cached join, and of cached distinct rows") {
    tables()
    val cte =
      s"WITH c AS (SELECT * FROM labels WHERE id > 3) SELECT l.*, ${sum(hour)} AS s FROM c l"
    val twice = cte.replace("SELECT l.*,", "SELECT l.*, (SELECT count(*) FROM c) AS n,")
    for (
      (query, cached) <- Seq(
        cte -> None,
        twice -> None,
        s"SELECT l.*, ${sum(hour)} AS s FROM cached l" ->
          Some("SELECT a.* FROM labels a JOIN labels b USING (id)"),
        s"SELECT l.*, ${sum(hour)} AS s FROM cached l" -> Some("SELECT DISTINCT * FROM labels")
      )
    ) {
      cached.foreach(spark.sql(_).cache().createOrReplaceTempView("cached"))
      val few = passed(query)
      assert(few.length == 1 && few.head < 1000, (query, cached, few))
      spark.catalog.clearCache()
    }
  }

  test("more labels than their files have bytes") {
    val folder = java.nio.file.Files.createTempDirectory("labels").toFile
    try {
      val at = "TIMESTAMP'2026-01-01' + make_dt_interval(0, CAST(id % 100 AS INT))"
      for (
        (name, rows, columns) <- Seq(
          ("labels", 50000, Seq("k", "t")),
          ("events", 200000, Seq("k", "t", "x"))
        )
      ) {
        spark
          .sql(s"SELECT id DIV 1000 AS k, $at AS t, hash(id) AS x FROM range(0, $rows, 1, 1)")
          .selectExpr(columns: _*)
          .write
          .parquet(s"$folder/$name")
        spark.read.parquet(s"$folder/$name").createOrReplaceTempView(name)
      }
      val range = "BETWEEN l.t - INTERVAL '9' MINUTES AND l.t - INTERVAL '8' MINUTES"
      val few = passedIfSame(s"SELECT l.*, ${sum(range)} AS s FROM labels l")
      assert(few.length == 1 && few.head < 20000, few)
    } finally org.apache.commons.io.FileUtils.deleteDirectory(folder)
  }

  test("no column is read but those that the query needs") {
    tables()
    spark.table("events").cache().createOrReplaceTempView("cached")
    withSettings(threshold -> "0") {
      val frame = spark.sql(s"SELECT l.*, ${sum(hour, events = "cached")} AS s FROM labels l")
      frame.collect()
      assert(slices(frame).length == 1)
      val read = collect(frame.queryExecution.executedPlan) { case s: InMemoryTableScanExec =>
        s.attributes.map(_.name).toSet
      }
      assert(read == Seq(Set("k", "t", "x")))
    }
    spark.catalog.clearCache()
  }

  test("labels that are no label of an event, and none at all") {
    tables()
    for (none <- Seq("id < 0", "k < 0", "t < TIMESTAMP'2020-01-01'")) {
      spark.sql(s"SELECT * FROM labels WHERE $none").createOrReplaceTempView("none")
      val frame = withSettings(threshold -> "0") {
        val made = spark.sql(s"SELECT l.*, ${sum(hour)} AS s FROM none l")
        assert(made.collect().isEmpty)
        made
      }
      assert(slices(frame).forall(_.metrics("numOutputRows").value == 0), none)
    }
  }

  test("a query is found in the cache, with its slices") {
    tables()
    withSettings(threshold -> "0") {
      def query = spark.sql(s"SELECT l.*, ${sum(hour)} AS s FROM labels l")
      query.cache()
      try {
        val again = query
        again.collect()
        assert(collect(again.queryExecution.executedPlan) { case s: InMemoryTableScanExec =>
          s
        }.nonEmpty)
      } finally query.unpersist()
    }
  }

  test("EXPLAIN tells of events that are left out, with counts once they are known") {
    tables()
    withSettings(threshold -> "0") {
      val frame = spark.sql(list(s"SELECT l.*, ${sum(hour)} AS s FROM labels l"))
      def told = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
      val text = "subquery's events of no label are not exchanged"
      assert(told.linesIterator.contains(text), told)
      frame.collect()
      assert(told.contains(s"$text: 19,"), told)
      assert(told.contains(" of 20,000\n") || told.endsWith(" of 20,000"), told)
    }
  }

  for (
    (labels, why) <- Seq(
      "(SELECT * FROM labels WHERE rand() < 0.5)" -> "are not the same if they are read twice",
      "(SELECT * FROM labels LIMIT 5)" -> "are any five rows",
      "(SELECT * FROM labels WHERE id > (SELECT min(id) FROM labels))" -> "need another query"
    )
  ) test(s"no slices for labels that $why", Slow +: each(3): _*) {
    tables()
    assert(passedIfSame(s"SELECT l.*, ${sum(hour)} AS s FROM $labels l").isEmpty)
  }

  test("no slices for labels that are as many as the events, but for a threshold of 0", Slow) {
    tables()
    val query = s"SELECT l.*, ${sum(hour)} AS s FROM (SELECT n AS id, k, t FROM events) l"
    assert(passedIfSame(query, size = "1").isEmpty)
    assert(passedIfSame(query).nonEmpty)
  }

  /** As `passed`, without Spark's own rows: labels may differ between two runs, or be many. */
  private def passedIfSame(query: String, size: String = "0"): Seq[Long] =
    withSettings(threshold -> size) {
      val frame = spark.sql(query)
      frame.collect()
      assert(sliding(frame).nonEmpty)
      slices(frame).map(_.metrics("numOutputRows").value)
    }

  test("no slices for cached labels that are any five rows") {
    tables()
    spark.sql("SELECT * FROM labels LIMIT 5").cache().createOrReplaceTempView("five")
    assert(passedIfSame(s"SELECT l.*, ${sum(hour)} AS s FROM five l").isEmpty)
    spark.catalog.clearCache()
  }

  test("no slices below the threshold, nor with -1") {
    tables()
    for (size <- Seq("128MB", "-1"))
      assert(passedIfSame(s"SELECT l.*, ${sum(hour)} AS s FROM labels l", size).isEmpty)
  }

  test("a task that dies among its events begins anew") {
    tables()
    // after some 3,000 of a task's events
    val dies = udf { (n: Long) =>
      val isFirst = TaskContext.get().attemptNumber() == 0
      if (isFirst && n % 6666 == 3000) throw new IllegalStateException("the task dies")
      n
    }
    spark.udf.register("dies", dies)
    val events = "(SELECT k, t, dies(n) AS x FROM events)"
    val query = s"SELECT l.*, ${sum(hour, events = events)} AS s FROM labels l"
    for (asked <- Seq(query, list(query))) withSettings(threshold -> "0") {
      val frame = spark.sql(asked)
      val died = frame.collect().map(_.toString).sorted
      val (Seq(ofSlices), expected) = (
        slices(frame),
        spark.sql(asked.replace("dies(n)", "n")).collect().map(_.toString).sorted
      )
      assert(died sameElements expected)
      assert(ofSlices.metrics("events").value == 20000)
    }
  }

  test("look-ups rest where most events pass, and wake up") {
    val sieve = new Sieve
    def looked(passes: Boolean, events: Int): Int = (1 to events).count { _ =>
      val looks = !sieve.rests()
      if (looks && passes) sieve.pass()
      looks
    }
    assert(looked(passes = true, 160 * 4096) == 10 * 4096)
    // fifteen blocks rest still; from the next one on all events are looked up
    assert(looked(passes = false, 160 * 4096) > 140 * 4096)
  }
}
