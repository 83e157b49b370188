package io.sash.spark.lateral

/** A condition on labels reaches their scan, and no other answer changes. */
final class LabelConditionsSuite extends FileTables {
  private val range = "FROM events e WHERE e.k = l.k AND e.ts <= l.ts"
  private val sums = s"(SELECT sum(e.a) AS n $range)"
  private val last = s"(SELECT e.a, e.b $range ORDER BY e.ts DESC LIMIT 1)"
  private val hour =
    "(SELECT count(*) AS c FROM events e WHERE e.k = l.k AND e.ts BETWEEN l.ts - 3 " +
      "AND l.ts)"
  private val other = "(SELECT count(*) AS c FROM events e WHERE e.a = l.z AND e.ts < l.ts)"
  private val greater = "GreaterThan(q,3)"

  /** Queries with a condition on the labels, and how a scan says it. */
  private val moved: Seq[(String, String)] = Seq(
    s"SELECT l.id, f.n FROM labels l LEFT JOIN LATERAL $sums f ON true WHERE l.q > 3" -> greater,
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.q > 3" -> greater,
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.q = 3" -> "EqualTo(q,3)",
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.q = 3 AND f.n > 20" -> "EqualTo(q,3)",
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.z IS NULL" -> "IsNull(z)",
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.ts < 9" -> "LessThan(ts,9)",
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.ts < 9 AND l.k = 1" -> "LessThan(ts,9)",
    s"SELECT l.id, f.a FROM labels l, LATERAL $last f WHERE l.q > 3 AND f.b > 0" -> greater,
    s"SELECT l.id, f.c FROM labels l, LATERAL $hour f WHERE l.q > 3 OR l.z = 1" -> "Or(",
    s"SELECT * FROM (SELECT l.q + 0 AS w, l.q AS v, $hour AS c FROM labels l) WHERE v > 3" ->
      greater,
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f LEFT JOIN LATERAL $hour g ON true " +
      "WHERE l.q > 3 AND f.n > g.c" -> greater,
    // another key: a second window over the first one's answers
    s"SELECT l.id, f.n, g.c FROM labels l, LATERAL $sums f LEFT JOIN LATERAL $other g ON true " +
      "WHERE l.q > 3" -> greater,
    s"SELECT l.q, sum(f.n) FROM labels l, LATERAL $sums f GROUP BY l.q HAVING l.q > 3" -> greater,
    s"SELECT l.id, f.a FROM labels l, LATERAL (SELECT e.a $range ORDER BY e.ts DESC LIMIT 2) f " +
      "WHERE l.q > 3" -> greater,
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.q > (SELECT 3)" -> greater,
    s"SELECT l.id FROM labels l WHERE $hour > 1 AND l.q > 3" -> greater
  )

  for ((query, condition) <- moved) test(query) {
    val frame = check(spark.sql(query))
    assert(sliding(frame).nonEmpty && !joinsPairs(frame), told(frame))
    val plan = frame.queryExecution.optimizedPlan
    assert(frame.count() > 0 && pushed(frame, "labels").forall(_.contains(condition)), plan)
    assert(!pushed(frame, "events").exists(_.contains(condition)), plan)
  }

  /** Conditions that stay above: the answers, chance, other rows or a subquery decide them. */
  private val kept: Seq[String] = Seq(
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.q > f.n - 20",
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE l.q + rand() >= 3 AND l.q > 2 + rand() * 0",
    s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE EXISTS (SELECT 1 FROM labels o WHERE " +
      "o.z = l.q AND o.z > 3)",
    // the running total is over all labels
    "SELECT * FROM (SELECT l.q, l.id, sum(f.n) OVER (PARTITION BY l.k ORDER BY l.id) AS s " +
      s"FROM labels l, LATERAL $sums f) WHERE q > 3"
  )

  for (query <- kept) test(s"stays above: $query") {
    val frame = check(spark.sql(query))
    assert(sliding(frame).nonEmpty && !joinsPairs(frame), told(frame))
    assert(!pushed(frame, "labels").exists(_.contains("(q,")), frame.queryExecution.optimizedPlan)
  }

  for (
    (condition, text) <- Seq(
      "l.k > 1" -> "GreaterThan(k,1)",
      "l.k IN (1, 2)" -> "In(k, [1,2])"
    )
  ) test(s"a condition on the keys is one of labels and events: $condition") {
    val query = s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE $condition"
    val frame = check(spark.sql(query))
    assert(sliding(frame).nonEmpty)
    for (table <- Seq("labels", "events"))
      assert(pushed(frame, table).forall(_.contains(text)), table)
  }

  for (
    condition <- Seq(
      "10 / (l.k - 3) < 0",
      "CAST(elt(l.k + 1, '1', '2', '3', 'none') AS INT) > 1"
    )
  ) test(s"a condition that fails for events of no label: $condition") {
    checkWindows(s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE $condition")
  }

  for (
    condition <- Seq(
      "10 / (l.k * (l.q + 1)) > 0",
      "CAST(IF(l.k = 0, 'none', l.q) AS INT) > 1"
    )
  ) test(s"a condition that fails without the one before it: $condition") {
    val guarded = s"l.k <> 0 AND $condition"
    checkWindows(s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE $guarded")
    checkWindows(s"SELECT * FROM (SELECT *, $sums AS n FROM labels l) l WHERE $guarded")
  }

  for (
    (values, condition) <- Seq(
      "'X' COLLATE UTF8_LCASE, 'x' COLLATE UTF8_LCASE" -> "hex(l.c) = '58'",
      "'X' COLLATE UTF8_LCASE, 'x' COLLATE UTF8_LCASE" -> "l.c COLLATE UTF8_BINARY = 'X'",
      "0.0D, -0.0D" -> "string(l.c) = '0.0'"
    );
    slices <- Seq("-1", "0")
  ) test(s"a condition that tells equal keys apart: $condition, $slices") {
    val Array(one, other) = values.split(", ")
    spark.sql(s"SELECT $one AS c, 5 AS t").repartition(2).createOrReplaceTempView("upper")
    spark
      .sql(s"SELECT c, t FROM VALUES ($one, 1), ($other, 2) AS e(c, t)")
      .repartition(2)
      .createOrReplaceTempView("both")
    withSettings("spark.sash.lateral.sliceThreshold" -> slices) {
      checkWindows(
        "SELECT l.t, f.n FROM upper l, LATERAL (SELECT count(*) AS n FROM both e WHERE " +
          s"e.c = l.c AND e.t < l.t) f WHERE $condition"
      )
    }
  }

  test("a condition that fails has Spark's error") {
    val query = s"SELECT l.id, f.n FROM labels l, LATERAL $sums f WHERE 1 / (l.q - 3) > 0"
    assert(checkFails(query) == "DIVIDE_BY_ZERO")
  }

  test("a user's own window over labels and events is left as it is") {
    val query =
      "SELECT * FROM (SELECT u, q, sum(x) FILTER (WHERE u = 1) OVER (ORDER BY ts RANGE 3 " +
        "PRECEDING) AS s FROM (SELECT 0 AS u, ts, q, NULL AS x FROM labels UNION ALL " +
        "SELECT 1, ts, NULL, a FROM events)) WHERE u = 0 AND q > 3"
    val frame = check(spark.sql(query))
    assert(sliding(frame).nonEmpty)
    assert(!pushed(frame, "labels").exists(_.contains(greater)))
  }
}
