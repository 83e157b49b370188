package io.sash.spark.lateral

/** Of found rows, the columns that nobody reads are not read from the files either. */
final class SlimFoundRowsSuite extends FileTables {
  private val of = "FROM events e WHERE e.k = l.k AND e.ts <= l.ts"
  private val last = s"(SELECT * $of ORDER BY e.ts DESC LIMIT 1)"
  private val first =
    "(SELECT * FROM events e WHERE e.k = l.k AND e.ts > l.ts ORDER BY e.ts LIMIT 1)"
  private val three = s"(SELECT * $of ORDER BY e.ts DESC LIMIT 3)"
  private val row = s"(SELECT max_by(struct(e.*), e.ts) AS m $of)"
  private val all = "k BIGINT,ts BIGINT,a BIGINT,b BIGINT," +
    "st STRUCT<x: BIGINT, y: STRUCT<u: BIGINT, v: BIGINT>>,s STRING"
  private val keys = "k BIGINT,ts BIGINT"

  /** What is read, of what, and the columns that the scans of the events read. */
  private val cases: Seq[(String, Seq[String])] = Seq(
    s"SELECT l.id, f.a FROM labels l LEFT JOIN LATERAL $last f ON true" -> s"$keys,a BIGINT",
    s"SELECT l.id, f.* FROM labels l LEFT JOIN LATERAL $last f ON true" -> all,
    s"SELECT l.id, struct(f.*) FROM labels l, LATERAL $last f" -> all,
    s"SELECT l.id FROM labels l, LATERAL $last f" -> keys,
    s"SELECT count(*) FROM labels l, LATERAL $last f" -> keys,
    s"SELECT l.id, f.s, f.ts - l.ts AS age FROM labels l, LATERAL $last f WHERE f.b > 1" ->
      s"$keys,b BIGINT,s STRING",
    s"SELECT l.id, f.a FROM labels l LEFT JOIN LATERAL $last f ON f.b > 1" ->
      s"$keys,a BIGINT,b BIGINT",
    // several rows
    s"SELECT l.id, f.a, f.b FROM labels l LEFT JOIN LATERAL $three f ON true" ->
      s"$keys,a BIGINT,b BIGINT",
    s"SELECT l.id, f.a FROM labels l LEFT JOIN LATERAL $three f ON true" -> s"$keys,a BIGINT",
    s"SELECT l.id, f.a FROM labels l, LATERAL $three f" -> s"$keys,a BIGINT",
    s"SELECT l.id FROM labels l, LATERAL $three f" -> keys,
    s"SELECT l.id, f.a FROM labels l LEFT JOIN LATERAL $three f ON f.b > 1" ->
      s"$keys,a BIGINT,b BIGINT",
    s"SELECT l.id, f.s FROM labels l LEFT JOIN LATERAL $three f ON f.st.y.v < -3 AND f.b > 0" ->
      s"$keys,b BIGINT,st STRUCT<y: STRUCT<v: BIGINT>>,s STRING",
    s"SELECT l.id, f.s FROM labels l, LATERAL $three f WHERE f.a > 2" -> s"$keys,a BIGINT,s STRING",
    // fields of fields
    s"SELECT l.id, f.st.y.v FROM labels l LEFT JOIN LATERAL $last f ON true" ->
      s"$keys,st STRUCT<y: STRUCT<v: BIGINT>>",
    s"SELECT l.id, f.st.y, f.st.y.v, f.a FROM labels l LEFT JOIN LATERAL $last f ON true" ->
      s"$keys,a BIGINT,st STRUCT<x: BIGINT, y: STRUCT<u: BIGINT, v: BIGINT>>",
    s"SELECT l.id, f.st.x, f.st.y.u FROM labels l, LATERAL $three f" ->
      s"$keys,st STRUCT<x: BIGINT, y: STRUCT<u: BIGINT>>",
    s"SELECT l.id, f.st IS NULL FROM labels l, LATERAL $last f" -> s"$keys,st STRUCT<x: BIGINT, y: STRUCT<u: BIGINT, v: BIGINT>>",
    // ties by a column that is not read above
    s"SELECT l.id, f.a FROM labels l, LATERAL (SELECT * $of ORDER BY e.b, e.ts LIMIT 1) f" ->
      s"$keys,a BIGINT,b BIGINT",
    s"SELECT l.id, f.a FROM labels l, LATERAL (SELECT * $of ORDER BY e.b, e.ts LIMIT 2) f" ->
      s"$keys,a BIGINT,b BIGINT",
    // a row of the user's
    s"SELECT l.id, f.m.a FROM labels l, LATERAL $row f" -> s"$keys,a BIGINT",
    s"SELECT l.id, f.m.a, f.m IS NULL FROM labels l, LATERAL $row f" -> s"$keys,a BIGINT",
    s"SELECT l.id FROM labels l, LATERAL $row f WHERE f.m IS NOT NULL" -> keys,
    s"SELECT l.id, f.m FROM labels l, LATERAL $row f" -> all,
    s"SELECT l.id, f.m.s FROM labels l, LATERAL (SELECT max(struct(e.b, e.a, e.s)) AS m $of) f" ->
      s"$keys,a BIGINT,b BIGINT,s STRING",
    s"SELECT l.id, f.m.a, to_json(f.m) FROM labels l, LATERAL $row f" -> all,
    s"SELECT f.m, count(f.m.a) FROM labels l, LATERAL $row f GROUP BY f.m" -> all,
    s"SELECT l.id, (SELECT struct(a, b, s) $of ORDER BY e.ts DESC LIMIT 1).b FROM labels l" ->
      s"$keys,b BIGINT",
    // operators above
    s"SELECT f.b, sum(f.a) FROM labels l, LATERAL $last f GROUP BY f.b" ->
      s"$keys,a BIGINT,b BIGINT",
    s"SELECT DISTINCT f.b FROM labels l, LATERAL $last f" -> s"$keys,b BIGINT",
    s"SELECT id, sum(a) OVER (PARTITION BY k ORDER BY id) FROM (SELECT l.*, f.a FROM labels l, " +
      s"LATERAL $last f)" -> s"$keys,a BIGINT",
    s"SELECT id, a FROM (SELECT l.id, f.* FROM labels l, LATERAL $last f ORDER BY f.b, l.id LIMIT 9)" ->
      s"$keys,a BIGINT,b BIGINT",
    s"SELECT l.id FROM labels l, LATERAL $last f WHERE f.a IN (SELECT q FROM labels)" ->
      s"$keys,a BIGINT",
    s"SELECT l.id FROM labels l, LATERAL $row f WHERE EXISTS (SELECT 1 FROM labels o WHERE " +
      "o.q = f.m.a)" -> all
  ).map { case (query, one) => query -> Seq(one) }

  private val chains: Seq[(String, Seq[String])] = Seq(
    s"SELECT l.id, f.a, g.b FROM labels l, LATERAL $last f LEFT JOIN LATERAL $first g ON true" ->
      Seq(s"$keys,a BIGINT,b BIGINT"),
    s"SELECT l.id, f.a, g.b FROM labels l, LATERAL $three f LEFT JOIN LATERAL $row g ON g.m.a > f.b " +
      "LEFT JOIN LATERAL (SELECT g.m.s AS b) g" -> Seq(s"$keys,a BIGINT,b BIGINT,s STRING"),
    // the second range begins at the first one's answer
    s"SELECT l.id, g.s FROM (SELECT l.id, f.* FROM labels l, LATERAL $last f) l " +
      s"LEFT JOIN LATERAL $first g ON true" -> Seq(keys, s"$keys,s STRING"),
    s"SELECT id, a FROM (SELECT l.id, f.* FROM labels l, LATERAL $last f UNION ALL " +
      s"SELECT l.id, f.* FROM labels l, LATERAL $three f)" ->
      Seq(s"$keys,a BIGINT", s"$keys,a BIGINT")
  )

  for ((query, expected) <- cases ++ chains) test(query) {
    val frame = check(spark.sql(query))
    assert(sliding(frame).nonEmpty && !joinsPairs(frame), told(frame))
    assert(columns(frame).sorted == expected.sorted, frame.queryExecution.optimizedPlan)
  }

  test("interpreted, and without adaptive execution") {
    withSettings(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
      "spark.sql.adaptive.enabled" -> "false"
    )(for ((query, _) <- (cases ++ chains).grouped(5).map(_.head)) checkWindows(query))
  }
}
