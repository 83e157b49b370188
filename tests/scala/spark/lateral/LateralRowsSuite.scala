package io.sash.spark.lateral

/** ORDER BY … LIMIT n in LATERAL: several rows for each label. */
final class LateralRowsSuite extends LateralSuite {

  private def tables(): Unit = {
    spark
      .sql("SELECT id, id % 3 AS k, id * 2 AS ts, 3 AS x FROM range(7)")
      .createOrReplaceTempView("l")
    spark
      .sql("SELECT id % 2 AS k, id AS ts, id % 5 AS p, string(id) AS s FROM range(12)")
      .createOrReplaceTempView("e")
  }

  private val last = "SELECT e.p, e.s FROM e WHERE e.k = l.k AND e.ts < l.ts ORDER BY e.ts DESC"
  private val first = "SELECT e.s FROM e WHERE e.k = l.k AND e.ts < l.ts ORDER BY e.p, e.ts"

  for (
    query <- Seq(
      s"l, LATERAL ($last LIMIT 3)",
      s"l, LATERAL ($last LIMIT 1 + 2)",
      s"l LEFT JOIN LATERAL ($last LIMIT 3) f ON true",
      s"l LEFT JOIN LATERAL ($last LIMIT 3) f ON f.p > 2",
      s"l LEFT JOIN LATERAL ($last LIMIT 1) f ON f.p > 2",
      s"l CROSS JOIN LATERAL ($last LIMIT 2) f",
      s"l JOIN LATERAL ($last LIMIT 2) f ON f.p > l.k",
      s"l, LATERAL ($last LIMIT 0)",
      s"l LEFT JOIN LATERAL ($last LIMIT 0) ON true",
      s"l, LATERAL ($last LIMIT 2) a, LATERAL ($first LIMIT 3) b",
      s"l LEFT JOIN LATERAL ($last LIMIT 2) a ON true LEFT JOIN LATERAL ($first LIMIT 3) ON a.p > 1",
      s"l, LATERAL (SELECT z.p + l.x AS y FROM ($last LIMIT 4) z WHERE z.p <> l.x)",
      s"l LEFT JOIN LATERAL (SELECT coalesce(z.p, l.x) AS y, 1 FROM ($last LIMIT 4) z) ON true",
      s"l LEFT JOIN LATERAL (SELECT z.p + l.x AS y FROM ($last LIMIT 4) z WHERE z.p > l.x) f " +
        "ON f.y > 1",
      s"l, LATERAL (SELECT 1 AS one FROM e WHERE e.k = l.k AND e.ts < l.ts ORDER BY e.p LIMIT 2)",
      "l, LATERAL (SELECT e.p + l.x AS y, e.s FROM e WHERE e.k = l.k AND e.ts < l.ts " +
        "ORDER BY e.p, e.s LIMIT 2)",
      s"l, LATERAL (SELECT count(*) c FROM e WHERE e.k = l.k AND e.ts < l.ts) a, " +
        s"LATERAL (SELECT z.p * a.c AS y FROM ($last LIMIT 3) z WHERE z.p < a.c)",
      s"l, LATERAL ($last LIMIT 2) a, LATERAL (SELECT count(*) FROM e WHERE e.k = a.p AND e.ts < l.ts)",
      s"l LEFT JOIN LATERAL (SELECT count(*) n FROM e WHERE e.k = l.k AND e.ts < l.ts) f ON f.n > 3",
      s"l LEFT JOIN LATERAL (SELECT count(*) n, max(e.p) m FROM e WHERE e.k = l.k AND e.ts < l.ts " +
        "HAVING max(e.p) > 2) f ON f.n > l.x"
    )
  ) test(query) {
    tables()
    withSettings("spark.sql.codegen.wholeStage" -> "false") {
      checkWindows(s"SELECT * FROM $query")
    }
  }

  test("a scalar subquery takes one row") {
    tables()
    withSettings("spark.sql.optimizer.scalarSubqueryUseSingleJoin" -> "true") {
      val query = s"SELECT l.id, (SELECT z.p FROM ($last LIMIT 2) z) FROM l WHERE l.ts < 3"
      val why = scala.util.Try(told(spark.sql(query))).fold(_.getMessage, identity)
      assert(why.contains(LateralWindows.OfRows) || why.contains("CORRELATED_SCALAR"), why)
    }
  }
}
