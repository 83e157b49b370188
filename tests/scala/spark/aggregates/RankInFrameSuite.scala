package io.sash.spark.aggregates

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, JoinedFrames, RowEquality, SashSuite, TestTable}

/** Ranks of the current row's value in its frame, against a join and a GROUP BY of Spark's. */
@Slow
class RankInFrameSuite extends SashSuite {
  import JoinedFrames._

  private val names = Seq("rank", "dense_rank", "percent_rank", "cume_dist").map(_ + "_in_frame")
  private val excluding = Framed(
    "uq",
    "",
    "b.rn BETWEEN a.rn - 6 AND a.rn - 1",
    ", count_window(7), window_exclude('current row')"
  )

  private val columns =
    Seq("b", "h", "i", "l", "f", "d", "small", "dt", "ts", "tn", "ym", "dti", "tie")

  /** How a join with the frame's rows `b` says the rank of `a`. */
  private def joined(name: String, c: String, filter: String): String = {
    val (own, other) = (s"first(a.$c)", s"IF($filter, b.$c, NULL)")
    val n = s"count($other)"
    val below = s"count_if($other < a.$c)"
    val upTo = s"count_if($other <= a.$c)"
    val rank = name match {
      case "rank_in_frame"       => s"1 + $below"
      case "dense_rank_in_frame" => s"1 + count(DISTINCT IF($other < a.$c, $other, NULL))"
      case "percent_rank_in_frame" =>
        s"coalesce($below / nullif(IF($upTo > $below, $n - 1, $n), 0), 0.0D)"
      case "cume_dist_in_frame" => s"IF($upTo > $below, $upTo / $n, ($upTo + 1) / ($n + 1))"
    }
    s"IF($own IS NULL, NULL, $rank)"
  }

  private def check(framed: Framed, filter: String, calls: Seq[(String, String)]): Unit = {
    TestTable.create(spark)
    val condition = if (filter == "true") "" else s" FILTER (WHERE ${filter.replace("b.", "")})"
    val asked = calls.zipWithIndex.map { case ((name, c), i) =>
      s"$name($c)$condition OVER w AS approx_$i"
    }
    val expected = calls.zipWithIndex.map { case ((name, c), i) =>
      s"${joined(name, c, filter)} AS approx_$i"
    }
    val windows = spark.sql(
      s"SELECT id, ${asked.mkString(", ")} FROM data " +
        s"WINDOW w AS (PARTITION BY g${framed.kind} ORDER BY ${framed.order} ${framed.frame})"
    )
    val oracle =
      "WITH n AS (SELECT *, row_number() OVER (PARTITION BY g ORDER BY uq) AS rn FROM data) " +
        s"SELECT a.id, ${expected.mkString(", ")} FROM n a LEFT JOIN n b " +
        s"ON a.g <=> b.g AND ${framed.join} GROUP BY a.id"
    val rows = withSash(enabled = false)(spark.sql(oracle).collect().toSeq)
    val difference = RowEquality.difference(rows, windows.collect().toSeq)
    assert(difference.isEmpty, difference.getOrElse(""))
    val sash = sliding(windows)
    assert(sash.map(_.calls.length).sum == calls.length && sash.nonEmpty)
  }

  for ((mode, settings) <- Modes; framed <- Moving ++ Whole :+ excluding)
    test(s"$framed, $mode", each(9): _*) {
      withSettings(settings: _*) {
        check(framed, "true", for (name <- names; c <- columns) yield (name, c))
        check(framed, "b.tie > 4", names.map((_, "i")))
      }
    }

  test("only OVER has a current row") {
    TestTable.create(spark)
    for (
      query <- Seq(
        "SELECT rank_in_frame(i) FROM data",
        "SELECT g, rank_in_frame(i) FROM data GROUP BY g",
        "SELECT a.id, r FROM data a, LATERAL (SELECT rank_in_frame(b.i) AS r FROM data b " +
          "WHERE b.g = a.g AND b.uq < a.uq)",
        "SELECT rank_in_frame(i) FROM data GROUP BY window(ts, '4 minutes', '1 minute')"
      )
    ) assert(conditionOf(query) == "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", query)
  }

  test("refusals") {
    TestTable.create(spark)
    val over = "OVER (ORDER BY id ROWS 3 PRECEDING) FROM data"
    for (c <- Seq("s", "large", "bo", "ar", "st"))
      assert(conditionOf(s"SELECT rank_in_frame($c) $over").startsWith("DATATYPE_MISMATCH"), c)
    assert(
      conditionOf(s"SELECT rank_in_frame(DISTINCT i) $over") ==
        "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED"
    )
    assert(
      conditionOf(
        "SELECT count(*) OVER (PARTITION BY g, predicate_window(rank_in_frame(i), r -> r < 3) " +
          "ORDER BY uq) FROM data"
      ).startsWith("INVALID_PARAMETER_VALUE")
    )
    withSash(enabled = false) {
      assert(conditionOf(s"SELECT rank_in_frame(i) $over") == "UNRESOLVED_ROUTINE")
    }
  }

  private def conditionOf(query: String): String =
    ErrorCondition.of(intercept[Throwable](spark.sql(query).collect()))
}
