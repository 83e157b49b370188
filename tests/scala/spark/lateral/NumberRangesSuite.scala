package io.sash.spark.lateral

import scala.util.Try

import io.sash.spark.windows.{BoundsSpec, FrameSpec}

/** Ranges of numbers, such as seconds since 1970, at fixed distances from the label's. */
final class NumberRangesSuite extends LateralSuite {

  private val types = Seq("INT", "BIGINT")

  /** Labels and events at the ends of a type, at its middle, and without a time. */
  private def tables(name: String): Unit = {
    val (least, greatest) =
      if (name == "INT") (Int.MinValue.toLong, Int.MaxValue.toLong)
      else (Long.MinValue, Long.MaxValue)
    val near = (0 to 3).flatMap(n => Seq(least + n, greatest - n)) ++ (-4 to 4).map(_.toLong)
    // no literal says the least BIGINT
    val values = near.map(n => s"CAST('$n' AS $name)") :+ s"CAST(NULL AS $name)"
    for (table <- Seq("l", "e")) {
      val rows = values.indices.map(i => s"(${i % 2}, ${values(i)}, $i)").mkString(", ")
      spark.sql(s"SELECT * FROM VALUES $rows AS r(j, t, i)").createOrReplaceTempView(table)
    }
  }

  private def asked(range: String, aggregates: String = "count(*) AS n, max(e.i) AS m") =
    s"SELECT l.t, f.* FROM l LEFT JOIN LATERAL (SELECT $aggregates FROM e WHERE $range) f"

  private def rises(frame: FrameSpec): Boolean = frame match {
    case bounds: BoundsSpec => bounds.rises
    case other              => fail(s"$other has no bounds")
  }

  private def frames(query: String): Seq[FrameSpec] =
    sliding(spark.sql(query)).flatMap(_.calls.map(_.shape.frame))

  private val ranges = Seq(
    "e.t >= l.t - 2 AND e.t < l.t",
    "e.t > l.t - 2 AND e.t <= l.t",
    "e.t >= l.t AND e.t <= l.t + 2",
    "e.t BETWEEN l.t - 1 - 1 AND l.t",
    "e.t >= -2 + l.t AND e.t <= l.t",
    "e.t >= l.t AND e.t <= l.t",
    "e.t <= l.t",
    "e.t < l.t"
  )
  private val between = Seq(
    "e.t >= l.t - 3 AND e.t <= l.t - 1",
    "e.t > l.t + 1 AND e.t < l.t + 3",
    "e.t >= l.t - 1 AND e.t <= l.t + 1"
  )

  for (name <- types) {
    test(s"$name: windows of a fixed distance move, and answer as Spark does where it wraps") {
      tables(name)
      withSettings("spark.sql.ansi.enabled" -> "false") {
        for (range <- ranges) withClue(s"$range\n") {
          checkWindows(asked(range))
          checkWindows(asked(s"e.j = l.j AND $range"))
          assert(frames(asked(range)).forall(rises))
        }
        // either end may wrap around alone, or both
        for (range <- between) withClue(s"$range\n") {
          checkWindows(asked(range))
          assert(frames(asked(range)).forall(!rises(_)))
        }
      }
    }

    test(
      s"$name: in ANSI mode an end that overflows is an error, and an event's does not count"
    ) {
      tables(name)
      val middle = "(SELECT * FROM l WHERE t BETWEEN -9 AND 9)"
      for (range <- ranges ++ between) withClue(s"$range\n") {
        val query = asked(range)
        val here = query.replace("FROM l ", s"FROM $middle l ")
        checkWindows(here)
        assert(frames(here).forall(rises))
        val byKey = asked(s"e.j = l.j AND $range")
        def condition(enabled: Boolean) =
          withSash(enabled)(Try(spark.sql(byKey).collect().length).toEither.left.map(errorOf))
        assert(condition(enabled = true) == condition(enabled = false))
      }
    }
  }

  private def errorOf(e: Throwable): String =
    Iterator
      .iterate(e)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst {
        case s: org.apache.spark.SparkThrowable if s.getCondition != null =>
          s.getCondition
      }
      .getOrElse(e.toString)

  test("a label that the query leaves out has no end that overflows") {
    tables("BIGINT")
    for (
      range <- Seq(
        "l.t > -9 AND e.t >= l.t - 5 AND e.t < l.t",
        "l.t BETWEEN -9 AND 9 AND e.t >= l.t - 5 AND e.t <= l.t + 5"
      )
    ) {
      val query = asked(range)
      // in ANSI mode Spark computes the ends of labels that it leaves out
      val expected = withSettings("spark.sql.ansi.enabled" -> "false") {
        withSash(enabled = false)(spark.sql(query).collect().toSeq)
      }
      assert(sorted(spark.sql(query).collect().toSeq) == sorted(expected))
    }
  }

  test("spans of several lengths, an INT beside a BIGINT") {
    tables("INT")
    for (ansi <- Seq("true", "false")) withSettings("spark.sql.ansi.enabled" -> ansi) {
      val l = if (ansi == "true") "(SELECT * FROM l WHERE t BETWEEN -9 AND 9)" else "l"
      def span(n: Int) =
        s"(SELECT sum(e.i) FROM e WHERE e.j = l.j AND e.t > l.t - $n AND e.t <= l.t)"
      checkWindows(s"SELECT l.t, ${span(3)}, ${span(1)}, ${span(7)} FROM $l l")
      val wide = "(SELECT j, CAST(t AS BIGINT) AS t, i FROM e)"
      checkWindows(
        s"SELECT l.t, (SELECT sum(e.i) FROM $wide e WHERE e.j = l.j AND e.t > l.t - 3 " +
          s"AND e.t <= l.t) FROM $l l"
      )
    }
  }

  test("the last row until a number, a text or a double is a window that only grows") {
    for (of <- Seq("DOUBLE", "STRING", "DECIMAL(9, 1)", "BIGINT"); sign <- Seq("<", "<=")) {
      for (table <- Seq("l", "e"))
        spark
          .sql(s"SELECT id % 2 AS j, CAST(id % 7 AS $of) AS t, id AS i FROM range(20)")
          .createOrReplaceTempView(table)
      val query = asked(s"e.j = l.j AND e.t $sign l.t", "max(e.t) AS m, count(*) AS n")
      checkWindows(query)
      assert(frames(query).forall(rises))
    }
  }
}
