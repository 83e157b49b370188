package io.sash.spark.slices

import org.apache.spark.sql.execution.{InputAdapter, SparkPlan, WholeStageCodegenExec}

import io.sash.spark.base.SashConf
import io.sash.spark.lateral.FileTables

/** Which queries run with slices, and what EXPLAIN says of the others. */
final class SlicesSuite extends FileTables {
  private val always = SashConf.LateralSliceThreshold.key -> "0"
  private val combined =
    raw"subquery's events are combined by \d+ slices of \d+ labels before the exchange".r

  private def isCombined(text: String): Boolean = combined.findFirstIn(text).nonEmpty

  private def explained(query: String): String = told(check(spark.sql(query)))

  private def last(k: String) = s"e.k = $k AND e.ts <= l.ts AND e.ts > l.ts - 5"

  private val counted = s"SELECT l.*, (SELECT count(b) FROM events e WHERE ${last("l.k")}) n"

  test("not for small tables, of which EXPLAIN says nothing, nor with -1") {
    assert(!explained(s"$counted FROM labels l").contains("exchange"))
    withSettings(SashConf.LateralSliceThreshold.key -> "-1") {
      assert(!explained(s"$counted FROM labels l").contains("exchange"))
    }
  }

  test("combined, with counts") {
    withSettings(always) {
      val frame = check(spark.sql(s"$counted FROM labels l"))
      assert(combined.findAllIn(told(frame)).length == 1, told(frame))
      assert(!told(frame).contains("pass alone"))
      val planned = told(spark.sql(s"$counted FROM labels l"))
      assert(planned.contains("events are combined by slices of the labels"), planned)
      val slices = collect(frame.queryExecution.executedPlan) { case s: EventSlicesExec =>
        s
      }.head
      val counts = slices.metrics.map { case (name, metric) => name -> metric.value }
      assert(counts("events") == 40 && counts("dropped") > 0)
      assert(counts("slices") <= counts("events") - counts("dropped"))
      assert(counts("numOutputRows") == counts("slices") && counts("single") == 0)
    }
  }

  for (whole <- Seq("true", "false"))
    test(s"events without a time, and FILTER, whole stages: $whole") {
      withSettings(always, "spark.sql.codegen.wholeStage" -> whole) {
        for (name <- Seq("l", "e"))
          spark
            .sql("SELECT id % 2 AS k, IF(id % 3 = 0, NULL, id - 9) AS t FROM range(20)")
            .createOrReplaceTempView(name)
        val frame = check(
          spark.sql(
            "SELECT * FROM l, LATERAL (SELECT count(*), max(e.t) FILTER (WHERE e.t % 4 = 1) " +
              "FROM e WHERE e.k = l.k AND e.t <= l.t AND e.t >= l.t - 20)"
          )
        )
        assert(isCombined(told(frame)), told(frame))
      }
    }

  test("the last and the first events of labels") {
    withSettings(always) {
      def at(order: String) =
        s"(SELECT e.b FROM events e WHERE ${last("l.k")} ORDER BY e.ts $order LIMIT 1)"
      val frame = check(spark.sql(s"SELECT l.*, ${at("DESC")} a, ${at("ASC")} b FROM labels l"))
      assert(isCombined(told(frame)), told(frame))
    }
  }

  test("a key that is NULL is neither 0 nor -1") {
    withSettings(always) {
      spark
        .sql("SELECT IF(k = 3, NULL, k - 1) AS k, ts, a FROM events")
        .createOrReplaceTempView("e")
      spark
        .sql("SELECT id, IF(k = 2, NULL, k - 1) AS k, ts FROM labels")
        .createOrReplaceTempView("l")
      val frame = check(
        spark.sql(
          "SELECT l.*, (SELECT sum(e.a) FROM e WHERE e.k <=> l.k AND e.ts <= l.ts AND " +
            "e.ts > l.ts - 5) s FROM l"
        )
      )
      assert(isCombined(told(frame)), told(frame))
    }
  }

  test("an index that is too large: each event passes alone") {
    withSettings(always, SashConf.LateralSliceLimit.key -> "100") {
      val frame = check(spark.sql(s"$counted FROM labels l"))
      val slices = collect(frame.queryExecution.executedPlan) { case s: EventSlicesExec =>
        s
      }.head
      assert(slices.metrics("single").value == 40 && slices.metrics("slices").value == 0)
      val why = "one by one: the index has more bytes than spark.sash.lateral.sliceLimit after "
      assert(told(frame).contains(why), told(frame))
    }
  }

  test("where there are enough events for each slice") {
    def chosen(query: String, settings: (String, String)*) =
      withSettings((SashConf.LateralSliceThreshold.key -> "1") +: settings: _*)(explained(query))
    val few = s"$counted FROM labels l WHERE id < 1"
    assert(chosen(s"$counted FROM labels l").contains("of them for about"))
    assert(
      chosen(s"$counted FROM (SELECT k, ts FROM range(1) JOIN labels USING (id)) l")
        .contains("costs more than to read a table")
    )
    val limit = SashConf.LateralSliceLimit.key -> "8"
    assert(chosen(few, limit).contains("have more bytes than"))
  }

  /** The line of a plan over so many labels and events that is not run. */
  private def planned(labels: Long, events: Long, asked: String, settings: (String, String)*) = {
    spark
      .sql(s"SELECT id, id % 1000 AS k, id AS ts FROM range($labels)")
      .createOrReplaceTempView("manyLabels")
    spark
      .sql(s"SELECT id % 1000 AS k, id AS ts, id AS b FROM range($events)")
      .createOrReplaceTempView("manyEvents")
    val one = Seq(
      SashConf.LateralSliceThreshold.key -> "1MB",
      "spark.sql.files.openCostInBytes" -> "1GB" // one task reads a small table
    )
    withSettings(one ++ settings: _*) {
      val text = told(
        spark.sql(
          s"SELECT * FROM manyLabels l, LATERAL (SELECT $asked FROM manyEvents e " +
            "WHERE e.k = l.k AND e.ts <= l.ts AND e.ts > l.ts - 5)"
        )
      )
      text.linesIterator.find(_.contains("exchange")).getOrElse("")
    }
  }

  private val byExchange = "subquery's events are combined by slices of the labels"
  private val leftOut = "subquery's events of no label are not exchanged"

  test("by the estimated number of events for each slice") {
    val sum = "sum(b)"
    assert(planned(10000, 20000000, sum).startsWith(byExchange))
    // each label has two ends
    assert(planned(100000, 800000, sum).startsWith(byExchange))
    val few = planned(100000, 790000, sum)
    // Spark takes a row of a range for half as many bytes as a row of two columns
    assert(few.contains("there are about 395,000 of them for about 100,000 slices"), few)
  }

  test("by the estimated number of events for each slice in one task") {
    // a task reads 131,072 events of 8 bytes
    val small = "spark.sql.files.maxPartitionBytes" -> "1MB"
    assert(planned(12000, 10000000, "sum(b)", small).startsWith(byExchange))
    assert(planned(40000, 10000000, "sum(b)", small) == leftOut)
    assert(planned(250000, 10000000, "sum(b)", small).contains("one by one"))
    // and with so many cores as little
    val cores = Seq(
      "spark.sql.files.openCostInBytes" -> "1MB",
      "spark.sql.leafNodeDefaultParallelism" -> "1000"
    )
    assert(planned(40000, 10000000, "sum(b)", cores: _*) == leftOut)
  }

  test("by the width of the combined row") {
    val wide = (1 to 20).map(i => s"stddev(b + $i)").mkString(", ")
    assert(planned(100000, 4000000, "sum(b)").startsWith(byExchange))
    assert(planned(100000, 4000000, wide).contains("one by one"))
    assert(planned(80000, 4000000, wide) == leftOut)
    assert(planned(1000, 4000000, wide).startsWith(byExchange))
  }

  private val sketches = Seq(
    "approx_count_distinct(b)",
    "hll_sketch_estimate(hll_sketch_agg(b))",
    "count(b) + hll_sketch_estimate(hll_sketch_agg(b) FILTER (WHERE b % 2 = 0))",
    "hex(count_min_sketch(b, 0.1d, 0.9d, 1))",
    "bitmap_count(bitmap_construct_agg(bitmap_bit_position(b)))"
  )

  /** Whether events are combined in a stage's own code. */
  private def isSlicedIn(stage: SparkPlan): Boolean = stage match {
    case _: InputAdapter    => false
    case _: EventSlicesExec => true
    case other              => other.children.exists(isSlicedIn)
  }

  test("sketches whose merge is a union are combined, others need all events") {
    for (sketch <- sketches)
      assert(planned(100, 4000000, sketch).startsWith(byExchange), sketch)
    for (other <- Seq("approx_percentile(b, 0.5)", "histogram_numeric(b, 3)"))
      assert(planned(100, 4000000, other) == leftOut, other)
    for (whole <- Seq("true", "false"); sketch <- sketches)
      withSettings(
        always,
        "spark.sql.codegen.wholeStage" -> whole,
        "spark.sql.codegen.fallback" -> "false"
      ) {
        val asked = s"SELECT l.*, (SELECT $sketch FROM events e WHERE ${last("l.k")}) n"
        val frame = check(spark.sql(s"$asked FROM labels l"))
        assert(isCombined(told(frame)), sketch)
        val stages = collect(frame.queryExecution.executedPlan) { case s: WholeStageCodegenExec =>
          isSlicedIn(s.child)
        }
        assert(stages.contains(true) == (whole == "true"), sketch)
      }
  }

  test("events that are exchanged whole are left out beside fifty times fewer labels") {
    assert(planned(100000, 5000000, "median(b)") == leftOut)
    assert(planned(101000, 5000000, "median(b)").contains("one by one"))
  }

  test("by all parts of a table that is a union") {
    spark
      .sql("SELECT id, id % 1000 AS k, id AS ts FROM range(100000)")
      .createOrReplaceTempView("manyLabels")
    def rows(n: Int) = s"SELECT id % 1000 AS k, id AS ts, id AS b FROM range($n)"
    withSettings(
      SashConf.LateralSliceThreshold.key -> "5MB",
      "spark.sql.files.openCostInBytes" -> "1GB"
    ) {
      def text(both: String) = told(
        spark.sql(
          s"SELECT * FROM manyLabels l, LATERAL (SELECT sum(b) FROM ($both) e " +
            "WHERE e.k = l.k AND e.ts <= l.ts AND e.ts > l.ts - 5)"
        )
      )
      val both = text(s"${rows(700000)} UNION ALL ${rows(100000)}")
      assert(both.contains(byExchange) && !both.contains("one by one"), both)
      val few = text(s"${rows(600000)} UNION ALL ${rows(100000)}")
      assert(few.contains("there are about 350,000 of them"), few)
    }
  }

  test("labels whose number is not known") {
    val size = "spark.sql.defaultSizeInBytes" -> "100"
    assert(planned(1000, 4000000, "sum(b)", size).contains("the number of labels is not known"))
  }

  for (
    (labels, why) <- Seq(
      "(SELECT * FROM labels WHERE rand(1) < 0.9)" -> "the labels' Filter may give other rows",
      "(SELECT * FROM labels LIMIT 20)" -> "Limit may give other rows",
      "(SELECT k, ts, first(q) q FROM labels GROUP BY ALL)" -> "the labels' Aggregate may give",
      "(SELECT CAST(CAST(x AS STRING) AS BIGINT) AS k, ts FROM (SELECT DISTINCT " +
        "CAST(k AS STRING) COLLATE UTF8_LCASE AS x, ts FROM labels))" -> "the labels' Aggregate"
    )
  ) test(s"labels that are read once: $labels") {
    withSettings(always) {
      val text = told(spark.sql(s"$counted FROM $labels l"))
      assert(text.contains(s"subquery's events are exchanged one by one: ") && text.contains(why))
      assert(!isCombined(text))
    }
  }

  test("labels in the cache are read twice, unless they may be others there") {
    withSettings(always) {
      for ((of, isRead) <- Seq("labels WHERE id > 3" -> true, "labels LIMIT 20" -> false)) {
        val cached = spark.sql(s"SELECT * FROM $of").cache()
        cached.createOrReplaceTempView("cachedLabels")
        val frame = spark.sql(s"$counted FROM cachedLabels l")
        frame.collect()
        val text = told(frame)
        assert(isCombined(text) == isRead, text)
        if (isRead) check(spark.sql(s"$counted FROM cachedLabels l"))
        cached.unpersist(blocking = true)
      }
    }
  }

  test("events that are aggregated one by one are only left out") {
    withSettings(always) {
      val text = explained(
        s"SELECT l.*, (SELECT median(b) FROM events e WHERE ${last("l.k")}) m FROM labels l"
      )
      assert(text.contains("subquery's events of no label are not exchanged"), text)
    }
  }

  test("times that have no slices") {
    withSettings(always) {
      def of(key: String, time: String) = explained(
        s"SELECT l.*, (SELECT count(*) FROM events e WHERE e.k $key AND $time) n FROM labels l"
      )
      assert(
        of("= l.k", "CAST(e.ts AS DOUBLE) <= CAST(l.ts AS DOUBLE)").contains("a DOUBLE"),
        "a time"
      )
    }
  }

  test("two subqueries by unlike keys: both are cut, and the labels are read alone") {
    withSettings(always) {
      val text = explained(
        s"SELECT l.*, (SELECT sum(a) FROM events e WHERE ${last("l.k")}) n, " +
          s"(SELECT max(a) FROM events e WHERE ${last("l.z")}) m FROM labels l"
      )
      assert(isCombined(text) && !text.contains("one by one"), text)
      val frame = spark.sql(
        "SELECT * FROM labels l " +
          s"JOIN LATERAL (SELECT e.s, e.a FROM events e WHERE ${last("l.k")} " +
          "ORDER BY e.ts DESC LIMIT 2) " +
          s"JOIN LATERAL (SELECT max(b) AS m FROM events e WHERE ${last("l.z")} " +
          "HAVING max(b) > 1)"
      )
      check(frame)
      assert(!told(frame).contains("one by one"))
    }
  }

  test("labels that are a union: the labels of each part keep their events") {
    val union = "(SELECT id, k, ts, z FROM labels UNION ALL " +
      "SELECT id + 100, k + 1, ts + 3, q FROM labels WHERE id < 9)"
    val query = s"SELECT l.*, (SELECT sum(a) FROM events e WHERE ${last("l.k")}) n, " +
      s"(SELECT max(a) FROM events e WHERE ${last("l.z")}) m FROM $union l"
    // Spark's optimizer fails over such labels
    def rows(threshold: String, asked: String) =
      withSettings(SashConf.LateralSliceThreshold.key -> threshold) {
        val frame = spark.sql(asked)
        (sorted(frame.collect().toSeq), told(frame))
      }
    for (first <- Seq("sum(a)", "median(a)")) {
      val asked = query.replace("sum(a)", first)
      val (expected, _) = rows("-1", asked)
      val (found, text) = rows("0", asked)
      assert(found == expected && found.length == 39)
      assert(isCombined(text) && !text.contains("one by one"), text)
      assert(text.contains("of no label") == (first != "sum(a)"), text)
    }
  }

  test("more cells that may be NULL than a word has bits") {
    withSettings(always) {
      for (whole <- Seq("true", "false"))
        withSettings("spark.sql.codegen.wholeStage" -> whole) {
          val many = (1 to 80).map(i => s"max(nullif(b, ${i % 5}) + $i) AS m$i")
          val text = explained(
            s"SELECT * FROM labels l, LATERAL (SELECT ${many.mkString(", ")} " +
              s"FROM events e WHERE ${last("l.k")})"
          )
          assert(isCombined(text), text)
        }
    }
  }

  test("rows of more columns than a function of Java has parameters") {
    val columns = (1 to 85).map(i => s"nullif(a, $i) AS c$i").mkString(", ")
    withSettings(always, "spark.sql.codegen.fallback" -> "false") {
      val text = explained(
        s"SELECT * FROM labels l LEFT JOIN LATERAL (SELECT e.* FROM " +
          s"(SELECT k, ts, $columns FROM events) e WHERE ${last("l.k")} " +
          "ORDER BY e.ts DESC LIMIT 1) ON true"
      )
      assert(isCombined(text), text)
    }
  }

  test("an event's key that is an error where no label asks for it") {
    withSettings(always, "spark.sql.ansi.enabled" -> "true") {
      spark
        .sql("SELECT * FROM VALUES (1, 5, 'x'), (2, 6, '7') AS l(k, ts, key)")
        .repartition(1)
        .createOrReplaceTempView("texts")
      val text = explained(
        "SELECT *, (SELECT count(*) FROM events e WHERE e.k = CAST(l.key AS INT) " +
          "AND e.ts <= l.ts) FROM (SELECT * FROM texts WHERE key = '7') l"
      )
      assert(isCombined(text), text)
    }
  }
}
