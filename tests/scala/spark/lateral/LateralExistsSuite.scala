package io.sash.spark.lateral

/** EXISTS and IN over a range. */
final class LateralExistsSuite extends LateralSuite {

  private def tables(): Unit = {
    spark
      .sql(
        "SELECT id, nullif(id % 4, 3) AS k, nullif(id * 2, 6) AS ts, nullif(id % 5, 4) AS x " +
          "FROM range(12)"
      )
      .createOrReplaceTempView("l")
    spark
      .sql("SELECT id % 3 AS k, id * 3 AS ts, nullif(id % 7, 2) AS p FROM range(9)")
      .createOrReplaceTempView("e")
  }

  private val own = "FROM e WHERE e.k = l.k AND e.ts > l.ts - 6 AND e.ts < l.ts"

  for (
    query <- Seq(
      s"SELECT * FROM l WHERE EXISTS (SELECT 1 $own)",
      s"SELECT * FROM l WHERE NOT EXISTS (SELECT * $own AND e.p > 1)",
      s"SELECT * FROM l WHERE x > 1 OR EXISTS (SELECT 1 $own)",
      s"SELECT *, EXISTS (SELECT 1 $own) AS has FROM l",
      s"SELECT id, CASE WHEN EXISTS (SELECT 1 $own) THEN (SELECT max(p) $own) ELSE -1 END m FROM l",
      s"SELECT * FROM l WHERE EXISTS (SELECT DISTINCT p $own ORDER BY p LIMIT 1)",
      "SELECT * FROM l WHERE EXISTS (SELECT 1 FROM e WHERE e.ts <= l.ts)",
      s"SELECT * FROM l WHERE EXISTS (SELECT 1 $own) AND NOT EXISTS (SELECT 1 $own AND p = 0)",
      s"SELECT * FROM l WHERE EXISTS (SELECT 1 $own AND l.x > 1)",
      s"SELECT * FROM l WHERE x IN (SELECT p $own)",
      s"SELECT * FROM l WHERE x + 1 IN (SELECT p $own) AND id > 2",
      "SELECT * FROM l WHERE (x, ts) IN (SELECT p, ts FROM e WHERE e.k = l.k AND e.ts <= l.ts)",
      s"SELECT * FROM l WHERE EXISTS (SELECT 1 $own) AND x NOT IN (SELECT p FROM e WHERE p > 3)",
      s"SELECT *, EXISTS (SELECT 1 $own) FROM l WHERE id IN (SELECT p FROM e)",
      "SELECT * FROM l WHERE EXISTS (SELECT 1 FROM e WHERE l.x <> 0 AND e.k = 4 DIV l.x " +
        "AND e.ts < l.ts)"
    )
  ) test(query) {
    tables()
    checkWindows(query)
  }

  for (
    (query, why) <- Seq(
      "EXISTS (SELECT 1 FROM e WHERE e.k = l.k AND e.ts < l.ts AND e.p + l.x > 3)" ->
        "((e.p + l.x) > 3) is neither an equality of keys nor an end of a range",
      s"EXISTS (SELECT max(e.p) $own HAVING max(e.p) > 1)" -> "it asks for rows of an aggregate",
      s"EXISTS (SELECT p $own GROUP BY p HAVING count(*) > 0)" -> "it asks for rows of an aggregate"
    )
  ) test(s"left to Spark: $query") {
    tables()
    val frame = check(spark.sql(s"SELECT * FROM l WHERE $query"))
    assert(sliding(frame).isEmpty)
    assert(told(frame).contains(s"): $why"), told(frame))
  }

  for (query <- Seq(s"x NOT IN (SELECT p $own)", "EXISTS (SELECT 1 FROM e WHERE e.k = l.k)"))
    test(s"Spark's: $query") {
      tables()
      assert(sliding(check(spark.sql(s"SELECT * FROM l WHERE $query"))).isEmpty)
    }
}
