package io.sash.spark.lateral

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.util.sketch.BloomFilter

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Explain, SashSuite}
import io.sash.spark.base.SashConf
import io.sash.spark.times.{Distance, PaneNumber}

/** Events that are of no label are left out, and no label loses one. */
final class EventFilterSuite extends SashSuite {
  private val threshold = SashConf.LateralFilterThreshold.key

  /** 40 labels of 20 of the users, 20,000 events of 100 users; times are spread over 1,000 hours. */
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

  private def sum(range: String, key: String = "e.k = l.k AND ", events: String = "events") =
    s"(SELECT sum(e.x) FROM $events e WHERE $key e.t $range)"

  private val hour = "BETWEEN l.t - INTERVAL '1' HOUR AND l.t"

  private def filters(frame: DataFrame): Seq[FilterExec] =
    collectWithSubqueries(frame.queryExecution.executedPlan) {
      case f: FilterExec if ChooseEventFilters.isChosen(f.condition) => f
    }

  /** The same rows without Sash and with the filter; how many events passed each filter. */
  private def passed(query: String, settings: (String, String)*): Seq[Long] = {
    val all = Seq(threshold -> "0", "spark.sql.shuffle.partitions" -> "2") ++ settings
    withSettings(all: _*) {
      val expected = withSash(enabled = false)(spark.sql(query).collect())
      val frame = spark.sql(query)
      val rows = frame.collect()
      assert(rows.map(_.toString).sorted sameElements expected.map(_.toString).sorted)
      assert(expected.nonEmpty && sliding(frame).nonEmpty)
      filters(frame).map(_.metrics("numOutputRows").value)
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
      assert(some.forall(n => n >= 4000 && n < 6000) && some.nonEmpty, some)
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

  test("most events are of a label: they pass untested") {
    tables()
    spark
      .sql("SELECT id, id % 100 AS k, TIMESTAMP'2026-02-11' AS t FROM range(1000)")
      .createOrReplaceTempView("many")
    val range = "BETWEEN l.t - INTERVAL '99' DAYS AND l.t"
    assert(passed(s"SELECT l.*, ${sum(range)} AS s FROM many l") == Seq(20000L))
  }

  test("events that are a union are filtered below it, a join and groups above them") {
    tables()
    val union = "(SELECT k, t, x FROM events UNION ALL SELECT k, t, -x FROM events)"
    val joined = "(SELECT a.k, a.t, a.x FROM events a JOIN labels b ON a.n = b.id)"
    val groups = "(SELECT k, t, max(x) AS x FROM events GROUP BY k, t)"
    for ((events, times) <- Seq(union -> 2, joined -> 1, groups -> 1)) {
      val few = passed(s"SELECT l.*, ${sum(hour, events = events)} AS s FROM labels l")
      assert(few.length == times && few.forall(_ < 1000), few)
    }
  }

  test("a group of no label is not torn apart where the filter rests") {
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
      assert(filters(frame).length == 1)
      val read = collect(frame.queryExecution.executedPlan) { case s: InMemoryTableScanExec =>
        s.attributes.map(_.name).toSet
      }
      assert(read == Seq(Set("k", "t", "x")))
    }
    spark.catalog.clearCache()
  }

  test("a setting of Spark that allows no labels in a filter") {
    tables()
    withSettings("spark.sql.optimizer.runtime.bloomFilter.maxNumItems" -> "0") {
      assert(passed(s"SELECT l.*, ${sum(hour)} AS s FROM labels l").isEmpty)
    }
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
      assert(filters(frame).forall(_.metrics("numOutputRows").value == 0))
    }
  }

  test("a query is found in the cache, with its filter") {
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

  test("EXPLAIN tells of the filter") {
    tables()
    withSettings(threshold -> "0") {
      val frame = spark.sql(s"SELECT l.*, ${sum(hour)} AS s FROM labels l")
      frame.collect()
      val told = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
      assert(told.contains("events that are of no label are not exchanged"), told)
    }
  }

  for (
    (labels, why) <- Seq(
      "(SELECT *, rand() AS r FROM labels)" -> "are not the same if they are read twice",
      "(SELECT * FROM labels LIMIT 5)" -> "are any five rows",
      "(SELECT * FROM labels WHERE id > (SELECT min(id) FROM labels))" -> "need another query",
      "(SELECT b.* FROM labels a JOIN labels b USING (id))" -> "come from a join"
    )
  ) test(s"no filter for labels that $why", Slow +: each(3): _*) {
    tables()
    assert(passedIfSame(s"SELECT l.*, ${sum(hour)} AS s FROM $labels l").isEmpty)
  }

  test("no filter for labels that are as many as the events, but for a threshold of 0", Slow) {
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
      filters(frame).map(_.metrics("numOutputRows").value)
    }

  test("no filter for cached labels that are any five rows") {
    tables()
    spark.sql("SELECT * FROM labels LIMIT 5").cache().createOrReplaceTempView("five")
    assert(passedIfSame(s"SELECT l.*, ${sum(hour)} AS s FROM five l").isEmpty)
    spark.catalog.clearCache()
  }

  test("no filter for keys whose equal values have several hashes") {
    tables("DOUBLE")
    assert(passedIfSame(s"SELECT l.*, ${sum("<= l.t")} AS s FROM labels l").isEmpty)
  }

  test("no filter below the threshold, nor with -1") {
    tables()
    for (size <- Seq("128MB", "-1"))
      assert(passedIfSame(s"SELECT l.*, ${sum(hour)} AS s FROM labels l", size).isEmpty)
  }

  test("a time in the range lies in one of the two parts, up to the ends of BIGINT") {
    val random = new Random(20261126)
    val ends =
      Seq(0L, 1L, -1L, Long.MinValue, Long.MaxValue, Long.MinValue + 1, Long.MaxValue - 1)
    def any: Long = random.nextInt(3) match {
      case 0 => ends(random.nextInt(ends.length))
      case 1 => random.nextLong()
      case _ => random.nextInt(2000) - 1000L
    }
    def distance = if (random.nextBoolean()) any % Distance.Most else random.nextInt(20) - 10L
    var inside = 0
    for (_ <- 1 to 200000) {
      val (a, b) = (distance, distance)
      val (least, most) = (a.min(b), a.max(b))
      val label = any
      val event =
        BigInt(label) + least + (BigInt(most) - least) * random.nextInt(1001) / 1000
      if (event.isValidLong) {
        inside += 1
        val width = most - least + 1
        def paneOf(time: Long, start: Long) = PaneNumber(Literal(time), width, start).eval()
        val panes = Seq(most, least).map(paneOf(event.toLong, _))
        assert(panes.contains(paneOf(label, 0L)), (label, event, least, most))
      }
    }
    assert(inside > 100000)
  }

  test("a sieve rests where most rows pass, and wakes up") {
    val bloom = BloomFilter.create(1000)
    (1L to 1000L).foreach(bloom.putLong)
    val sieve = new Sieve(Some(bloom))
    def tested(hashes: Iterator[Long]): (Int, Int) = {
      var (tests, passes) = (0, 0)
      hashes.foreach { h =>
        if (sieve.rests()) passes += 1
        else {
          tests += 1
          if (sieve.note(sieve.mightContain(h))) passes += 1
        }
      }
      (tests, passes)
    }
    val wanted = tested(Iterator.tabulate(160 * 4096)(i => 1L + i % 1000))
    assert(wanted._2 == 160 * 4096)
    assert(wanted._1 == 10 * 4096)
    // fifteen blocks rest still; from the next test on nothing passes
    val (tests, passes) = tested(Iterator.tabulate(160 * 4096)(i => 10000L + i))
    assert(tests > 140 * 4096 && passes < 40 * 4096, (tests, passes))
    assert(new Sieve(None).mightContain(1) === false)
  }
}
