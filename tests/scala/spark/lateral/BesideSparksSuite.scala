package io.sash.spark.lateral

/** Subqueries that run as windows, beside and around others that Spark runs. */
class BesideSparksSuite extends LateralSuite {
  private val range = "e.k = l.k AND e.ts < l.ts"

  private def tables(): Unit = {
    val rows = Map(
      "l" -> "(0, 1, 10, 3), (1, 1, 12, 1), (2, 2, 12, 2)",
      "e" -> "(0, 1, 9, 3), (1, 1, 11, 1), (2, 2, 11, 2)"
    )
    rows.foreach { case (name, values) =>
      spark.sql(s"SELECT * FROM VALUES $values AS t(id, k, ts, p)").createOrReplaceTempView(name)
    }
    spark.sql("SELECT * FROM VALUES (0), (1), (2), (3) AS t(p)").createOrReplaceTempView("g")
  }

  private val ofSpark = Seq(
    s"l.p IN (SELECT e.p FROM e WHERE $range LIMIT 5)",
    s"l.p IN (SELECT e.p FROM e WHERE $range ORDER BY e.ts LIMIT 1)",
    s"l.p IN (SELECT max(e.p) FROM e WHERE $range)",
    s"l.p IN (SELECT DISTINCT e.p FROM e WHERE $range UNION SELECT p FROM g WHERE p < l.k)",
    s"(l.p, l.k) IN (SELECT e.p, e.k FROM e WHERE $range LIMIT 9)",
    "l.p IN (SELECT e.p FROM e WHERE e.ts < l.ts OR e.k = l.k)"
  )

  for (
    window <- Seq(
      s"EXISTS (SELECT 1 FROM e WHERE $range)",
      s"NOT EXISTS (SELECT 1 FROM e WHERE $range AND e.p > 5)",
      s"(SELECT count(*) FROM e WHERE $range) > 0"
    );
    in <- ofSpark
  ) test(s"IN beside a window: $window AND $in") {
    tables()
    assert(sliding(check(spark.sql(s"SELECT l.id FROM l WHERE $window AND $in"))).nonEmpty)
  }

  test("a cached table of labels, a window and a subquery that Spark runs") {
    tables()
    spark.table("l").cache().createOrReplaceTempView("lc")
    val joins = Seq(
      "LATERAL (SELECT max(e.p) m FROM e WHERE e.ts < lc.ts AND e.p + lc.p > 0) b",
      "LATERAL (SELECT max(e.p) m FROM e WHERE e.ts < lc.ts OR e.k = lc.k) b"
    )
    try
      for (adaptive <- Seq("true", "false"); join <- joins)
        withSettings("spark.sql.adaptive.enabled" -> adaptive) {
          val query = "SELECT lc.id, a.c, b.m FROM lc, LATERAL (SELECT count(*) c FROM e WHERE " +
            s"e.k = lc.k AND e.ts < lc.ts) a, $join"
          assert(sliding(check(spark.sql(query))).nonEmpty, query)
        }
    finally spark.table("l").unpersist()
  }

  private val nested = Seq(
    s"(SELECT count(*) c FROM e WHERE $range HAVING EXISTS " +
      "(SELECT 1 FROM g WHERE g.p = count(e.p)))",
    "(SELECT z.c + (SELECT max(p) FROM g WHERE g.p < z.c) c FROM " +
      s"(SELECT count(*) c FROM e WHERE $range) z)",
    "(SELECT sum(z.pp) c FROM (SELECT p + 1 pp, ts FROM e WHERE e.k = l.k) z WHERE z.ts < l.ts " +
      "AND EXISTS (SELECT 1 FROM g WHERE g.p = z.pp))",
    s"(SELECT sum((SELECT max(p) FROM g WHERE g.p < e.p)) c FROM e WHERE $range)",
    s"(SELECT e.p, (SELECT max(g.p) FROM g WHERE g.p < e.p) m FROM e WHERE $range " +
      "ORDER BY e.ts DESC LIMIT 1)",
    s"(SELECT e.k, count(*) c FROM e WHERE $range GROUP BY e.k HAVING EXISTS " +
      "(SELECT p FROM g WHERE g.p = e.k))",
    s"(SELECT z.c FROM (SELECT count(*) c FROM e WHERE $range) z WHERE z.c IN " +
      "(SELECT p FROM g WHERE g.p <= z.c))"
  )

  for (subquery <- nested)
    test(s"a subquery that reads its subquery's rows is Spark's: $subquery", each(2): _*) {
      tables()
      val frame = check(spark.sql(s"SELECT l.id, t.* FROM l, LATERAL $subquery t"))
      assert(sliding(frame).isEmpty)
      assert(told(frame).contains("a subquery within it reads "), told(frame))
    }

  test("in WHERE over a table's columns it may, and others may be anywhere") {
    tables()
    for (
      subquery <- Seq(
        s"(SELECT count(*) c FROM e WHERE $range AND EXISTS (SELECT 1 FROM g WHERE g.p = e.p))",
        s"(SELECT count(*) c FROM e WHERE $range HAVING EXISTS (SELECT 1 FROM g WHERE g.p > 2))",
        s"(SELECT sum(e.p + (SELECT max(p) FROM g)) c FROM e WHERE $range)"
      )
    ) checkWindows(s"SELECT l.id, t.* FROM l, LATERAL $subquery t")
  }
}
