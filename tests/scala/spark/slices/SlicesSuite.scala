package io.sash.spark.slices

import io.sash.spark.base.SashConf
import io.sash.spark.lateral.FileTables

/** Which queries run with slices, and what EXPLAIN says of the others. */
final class SlicesSuite extends FileTables {
  private val always = SashConf.LateralSlices.key -> "always"
  private val combined =
    "subquery's events are combined by slices of the labels before the exchange"

  private def explained(query: String): String = told(check(spark.sql(query)))

  private def last(k: String) = s"e.k = $k AND e.ts <= l.ts AND e.ts > l.ts - 5"

  private val counted = s"SELECT l.*, (SELECT count(b) FROM events e WHERE ${last("l.k")}) n"

  test("off, which is the default") {
    assert(!explained(s"$counted FROM labels l").contains("slices"))
  }

  test("always") {
    withSettings(always) {
      val frame = check(spark.sql(s"$counted FROM labels l"))
      assert(told(frame).linesIterator.count(_ == combined) == 1, told(frame))
      val slices = collect(frame.queryExecution.executedPlan) { case s: EventSlicesExec =>
        s
      }.head
      val counts = slices.metrics.map { case (name, metric) => name -> metric.value }
      assert(counts("events") == 40 && counts("dropped") > 0)
      assert(counts("slices") <= counts("events") - counts("dropped"))
      assert(counts("numOutputRows") == counts("slices") && counts("single") == 0)
    }
  }

  test("an index that is too large: each event passes alone") {
    withSettings(always, SashConf.LateralSliceLimit.key -> "100") {
      val frame = check(spark.sql(s"$counted FROM labels l"))
      val slices = collect(frame.queryExecution.executedPlan) { case s: EventSlicesExec =>
        s
      }.head
      assert(slices.metrics("single").value == 40 && slices.metrics("slices").value == 0)
    }
  }

  test("where there are enough events for each label") {
    def chosen(threshold: String, query: String) =
      withSettings(
        SashConf.LateralSlices.key -> "on",
        SashConf.LateralFilterThreshold.key -> threshold
      )(explained(query))
    val few = s"$counted FROM labels l WHERE id < 1"
    assert(chosen("100MB", s"$counted FROM labels l").contains("fewer bytes than"))
    assert(chosen("0", s"$counted FROM labels l").contains("of them for about"))
    assert(
      chosen("0", s"$counted FROM (SELECT k, ts FROM range(1) JOIN labels USING (id)) l")
        .contains("costs more than to read a table")
    )
    withSettings(SashConf.LateralSliceLimit.key -> "8") {
      assert(chosen("0", few).contains("have more bytes than"))
    }
  }

  for (
    (labels, why) <- Seq(
      "(SELECT * FROM labels WHERE rand(1) < 0.9)" -> "the labels' Filter may give other rows",
      "(SELECT * FROM labels LIMIT 20)" -> "Limit may give other rows",
      "(SELECT k, ts, first(q) q FROM labels GROUP BY ALL)" -> "the labels' Aggregate may give"
    )
  ) test(s"labels that are read once: $labels") {
    withSettings(always) {
      val text = told(spark.sql(s"$counted FROM $labels l"))
      assert(text.contains(s"subquery's events are exchanged one by one: ") && text.contains(why))
      assert(!text.contains(combined))
    }
  }

  test("labels in the cache are read twice, unless they may be others there") {
    withSettings(always) {
      for ((of, isRead) <- Seq("labels WHERE id > 3" -> true, "labels LIMIT 20" -> false)) {
        val cached = spark.sql(s"SELECT * FROM $of").cache()
        cached.createOrReplaceTempView("cachedLabels")
        val text = told(spark.sql(s"$counted FROM cachedLabels l"))
        assert(text.contains(combined) == isRead, text)
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

  test("keys and times that have no slices") {
    withSettings(always) {
      def of(key: String, time: String) = explained(
        s"SELECT l.*, (SELECT count(*) FROM events e WHERE e.k $key AND $time) n FROM labels l"
      )
      assert(
        of("= l.k", "CAST(e.ts AS DOUBLE) <= CAST(l.ts AS DOUBLE)").contains("a DOUBLE"),
        "a time"
      )
      assert(of("> 0", "e.ts <= l.ts").contains("no key of the events equals a key"))
    }
  }

  test("two subqueries by unlike keys: both are cut, and the labels are read alone") {
    withSettings(always) {
      val text = explained(
        s"SELECT l.*, (SELECT sum(a) FROM events e WHERE ${last("l.k")}) n, " +
          s"(SELECT max(a) FROM events e WHERE ${last("l.z")}) m FROM labels l"
      )
      assert(text.linesIterator.count(_ == combined) >= 1 && !text.contains("one by one"), text)
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
      assert(text.contains(combined), text)
    }
  }
}
