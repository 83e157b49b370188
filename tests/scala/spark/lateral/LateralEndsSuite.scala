package io.sash.spark.lateral

/** Ranges with several lower or upper ends. */
final class LateralEndsSuite extends LateralSuite {

  private def tables(cast: String): Unit =
    for ((name, n) <- Seq("l" -> 9, "e" -> 20)) {
      val since = s"CAST(nullif(id % 4, 2) + 1 AS INT)"
      spark
        .sql(
          s"SELECT id, id % 2 AS k, ${cast.format("id % 7")} t, ${cast.format(since)} s " +
            s"FROM range($n)"
        )
        .createOrReplaceTempView(name)
    }

  private val types = Map(
    "DATE" -> "date_add(DATE'2026-03-01', CAST(%s AS INT))",
    "TIMESTAMP" -> "timestamp_micros(%s)",
    "TIMESTAMP_NTZ" -> "CAST(timestamp_micros(%s) AS TIMESTAMP_NTZ)",
    "BIGINT" -> "CAST(%s AS BIGINT)",
    "DOUBLE" -> "CAST(%s AS DOUBLE)"
  )

  private def asked(ends: String) =
    s"SELECT l.*, (SELECT count(*) FROM e WHERE e.k = l.k AND $ends) AS n FROM l"

  for ((name, cast) <- types) test(s"the nearest of several ends: $name") {
    tables(cast)
    checkWindows(asked("e.t >= l.t AND e.t >= l.s"))
    checkWindows(asked("e.t < l.t AND l.s > e.t AND e.t < l.t"))
    val mixed = Seq("e.t >= l.t AND e.t > l.s", "e.t <= l.t AND e.t < l.s AND e.t <= l.t")
    for (ends <- mixed) {
      if (Set("BIGINT", "DOUBLE")(name)) {
        val text = told(check(spark.sql(asked(ends))))
        assert(text.contains("one belongs to the range and another one does not"), text)
      } else checkWindows(asked(ends))
    }
  }

  test("a subquery that Spark runs by row_number has a line of its own alone") {
    tables(types("BIGINT"))
    val query = "SELECT * FROM l, LATERAL (SELECT e.id AS i FROM e WHERE e.k = l.k AND " +
      "e.t + l.t < 9 ORDER BY e.t, e.id LIMIT 3)"
    assert(
      told(check(spark.sql(query))).trim ==
        "left to Spark: LATERAL (SELECT e.id AS i FROM e WHERE e.k = l.k AND e.t + l.t < 9 " +
        "ORDER BY e.t, e.id LIMIT 3): ((e.t + l.t) < 9) is neither an equality of keys nor an " +
        "end of a range; leave the event's column alone on one side of the comparison"
    )
  }
}
