package io.sash.spark.lateral

import org.apache.spark.sql.Row

import io.sash.spark.{Explain, SashSuite}

/** DISTINCT in a correlated subquery over a range, of values that bytes do not tell apart. */
class LateralDistinctSuite extends SashSuite {
  private def query(value: String, call: String): String =
    s"""SELECT l.k, f.n FROM VALUES (1, 9) AS l(k, j), LATERAL (SELECT $call AS n
       |  FROM (SELECT k, i, $value AS c FROM VALUES (1, 1, 'a'), (1, 2, '$$') AS v(k, i, s)) e
       |  WHERE e.k = l.k AND e.i < l.j) f""".stripMargin

  private def checkLeft(query: String, of: String): Unit = {
    val frame = spark.sql(query)
    assert(frame.collect().toSeq == Seq(Row(1, 1L)))
    assert(sliding(frame).isEmpty)
    val said = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
    assert(said.contains(s"DISTINCT cannot tell values of type $of apart by their bytes"), said)
  }

  for {
    (value, other, of) <- Seq(
      ("map('a', s)", "a", "MAP<STRING, STRING>"),
      ("make_interval(0, 0, 0, 0, 0, 0, length(s))", "A", "INTERVAL"),
      ("struct(s COLLATE UTF8_LCASE AS f)", "A", "STRUCT<f: STRING COLLATE UTF8_LCASE NOT NULL>"),
      ("array(s COLLATE UTF8_LCASE)", "A", "ARRAY<STRING COLLATE UTF8_LCASE>")
    )
  } {
    test(s"$of is left to Spark, in LATERAL and as a scalar subquery") {
      val lateral = query(value, "count(DISTINCT e.c)").replace("$", other)
      checkLeft(lateral, of)
      checkLeft(
        lateral
          .replace("SELECT l.k, f.n FROM VALUES (1, 9) AS l(k, j), LATERAL (", "SELECT l.k, (")
          .stripSuffix(" f") + " AS n FROM VALUES (1, 9) AS l(k, j)",
        of
      )
    }
  }

  for (value <- Seq("struct(s AS f)", "array(s)", "s COLLATE UTF8_LCASE", "length(s)"))
    test(s"$value is told apart") {
      val other = if (value.contains("COLLATE")) "A" else "a"
      val frame = spark.sql(query(value, "count(DISTINCT e.c)").replace("$", other))
      assert(frame.collect().toSeq == Seq(Row(1, 1L)))
      assert(sliding(frame).length == 1)
    }
}
