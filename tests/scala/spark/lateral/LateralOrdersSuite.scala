package io.sash.spark.lateral

import scala.util.Random

/** The first row by ORDER BY of several columns, with their directions and places of NULLs. */
final class LateralOrdersSuite extends LateralSuite {
  private val types = Map(
    "BIGINT" -> Seq("1", "2", "-9", "NULL"),
    "DOUBLE" -> Seq("0.0", "-0.0", "'NaN'", "'-Infinity'", "1.5", "NULL"),
    "STRING" -> Seq("'a'", "'b'", "''", "NULL"),
    "STRING COLLATE UTF8_LCASE" -> Seq("'a'", "'A'", "'b'", "NULL"),
    "STRUCT<x: INT, y: STRING>" -> Seq("struct(1, 'a')", "struct(1, NULL)", "NULL"),
    "ARRAY<INT>" -> Seq("array(1)", "array(1, NULL)", "array()", "NULL"),
    "BOOLEAN" -> Seq("true", "false", "NULL"),
    "DATE" -> Seq("DATE'2026-03-01'", "DATE'2026-03-02'", "NULL")
  )

  private val places = for {
    direction <- Seq("ASC", "DESC")
    nulls <- Seq("FIRST", "LAST")
  } yield s"$direction NULLS $nulls"

  for ((kind, values) <- types) test(s"each direction and place of NULLs: $kind", each(2): _*) {
    val random = new Random(kind.hashCode)
    def one(of: String*) = of(random.nextInt(of.length))
    def rows(n: Int)(columns: Int => Seq[String]) =
      (1 to n).map(columns(_).mkString("(", ", ", ")")).mkString(", ")
    val events = rows(30) { i =>
      Seq(one("1", "2"), one("1", "2", "3", "4"), s"CAST(${one(values: _*)} AS $kind)", s"$i")
    }
    val labels = rows(6)(i => Seq(i.toString, one("1", "2"), one("2", "3", "5")))
    withSettings(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.adaptive.enabled" -> "false",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.codegen.factoryMode" -> one("FALLBACK", "NO_CODEGEN")
    ) {
      spark.sql(s"SELECT * FROM VALUES $events AS e(k, ts, s, id)").createOrReplaceTempView("e")
      spark.sql(s"SELECT * FROM VALUES $labels AS l(n, k, ts)").createOrReplaceTempView("l")
      val last = places.map { place =>
        val order = one(
          s"e.ts DESC, e.s $place, e.id",
          s"e.s $place, e.ts DESC, e.id DESC",
          s"e.ts, e.s $place, e.id DESC NULLS LAST"
        )
        s"SELECT e.id FROM e WHERE e.k = l.k AND e.ts <= l.ts ORDER BY $order LIMIT "
      }
      val columns = last.zipWithIndex.map { case (q, i) => s"(${q}1) AS q$i" }
      checkWindows(s"SELECT l.*, ${columns.mkString(", ")} FROM l")
      for (q <- last)
        checkWindows(s"SELECT * FROM l LEFT JOIN LATERAL ($q${one("2", "5")}) ON true")
    }
  }

  test("a key that is computed from the outer row is left to Spark") {
    spark.sql("SELECT id k, id ts FROM range(9)").createOrReplaceTempView("e")
    val query =
      "SELECT * FROM e l, LATERAL (SELECT e.ts t, e.ts - l.ts d FROM e WHERE e.ts < l.ts " +
        "ORDER BY d DESC, t LIMIT 1)"
    val frame = check(spark.sql(query))
    assert(told(frame).contains("reads the outer row"), told(frame))
  }
}
