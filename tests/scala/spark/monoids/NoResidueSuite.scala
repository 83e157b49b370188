package io.sash.spark.monoids

import org.apache.spark.sql.{DataFrame, Row}

import org.scalatest.tags.Slow

import io.sash.spark.{RowEquality, SashSuite}

/** A window of floats answers as if the values that left it had never been in it. */
@Slow
class NoResidueSuite extends SashSuite {
  private val poisons = Seq(
    "double('NaN')",
    "double('infinity')",
    "double('-infinity')",
    "1e300D",
    "-1e300D",
    "1e16D"
  )

  private val calls = Seq(
    "sum",
    "avg",
    "stddev",
    "var_pop",
    "skewness",
    "kurtosis",
    "min",
    "max",
    "try_sum",
    "try_avg"
  )
    .map(f => s"$f(x)") ++
    Seq("corr(x, y)", "covar_samp(x, y)", "regr_slope(y, x)", "regr_r2(x, y)", "regr_sxy(x, y)")

  private val frames = Seq(
    "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW" -> (0, 4),
    "ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING" -> (3, 2),
    "RANGE BETWEEN 6 PRECEDING AND CURRENT ROW" -> (0, 6),
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING" -> (40, 0)
  )

  private val poisoned = 17

  private def query(frame: String, poison: String): DataFrame = {
    val columns = calls.zipWithIndex.map { case (call, i) => s"$call OVER w AS c$i" }
    spark.sql(s"""SELECT id, ${columns.mkString(", ")} FROM (
         |  SELECT id, id % 7 + id / 8.0D AS y,
         |    CASE WHEN id = $poisoned THEN $poison ELSE id * id % 11 + id / 64.0D END AS x
         |  FROM range(0, 40, 1, 1))
         |WINDOW w AS (ORDER BY id $frame)""".stripMargin)
  }

  private def rows(frame: DataFrame): Seq[Row] = frame.collect().toSeq.sortBy(_.getLong(0))

  for ((frame, (before, after)) <- frames)
    test(s"rows out of reach do not matter: $frame", each(2): _*) {
      val clean = query(frame, "0.5D")
      val expected = rows(clean)
      assert(sliding(clean).nonEmpty, "vacuous: no operator of Sash ran")
      for (poison <- poisons) {
        val actual = rows(query(frame, poison))
        val reached = (poisoned - before).toLong to (poisoned + after).toLong
        val (inside, outside) =
          expected.zip(actual).partition { case (e, _) => reached.contains(e.getLong(0)) }
        outside.foreach { case (e, a) =>
          // bit by bit: the rows of other windows are not even grouped otherwise
          assert(RowEquality.difference(Seq(e), Seq(a)).isEmpty, poison)
        }
        assert(inside.exists { case (e, a) => e != a }, "vacuous: the poison is in no window")
      }
    }

  test("a sum of small integers is exact once a NaN, an infinity or 1e300 has left") {
    for (poison <- poisons; window <- Seq(2, 5, 16)) {
      val frame = spark.sql(s"""SELECT id, sum(x) OVER w AS s, max(x) OVER w AS m FROM (
           |  SELECT id, IF(id % 20 = 7, $poison, double(id)) AS x FROM range(0, 200, 1, 1))
           |WINDOW w AS (ORDER BY id ROWS ${window - 1} PRECEDING)""".stripMargin)
      val clean = rows(frame).filter { r =>
        r.getLong(0) >= window && (0 until window).forall(k => (r.getLong(0) - k) % 20 != 7)
      }
      assert(clean.nonEmpty && sliding(frame).nonEmpty)
      clean.foreach { r =>
        val ids = (r.getLong(0) - window + 1) to r.getLong(0)
        assert(r.getDouble(1) == ids.sum.toDouble && r.getDouble(2) == ids.max.toDouble, poison)
      }
    }
  }

  test("values that are all alike have no variance, whatever NULLs and FILTER leave out") {
    val alike = Seq("stddev(x)", "skewness(x)", "kurtosis(x)", "corr(x, y)", "regr_r2(y, x)") ++
      Seq("regr_slope(y, x)", "regr_intercept(y, x)", "covar_pop(x, y)", "regr_syy(x, y)")
    for (value <- Seq("0.1D", "3.3D"); dropped <- Seq("", " FILTER (WHERE id % 5 < 3)")) {
      val columns = alike.zipWithIndex.map { case (call, i) => s"$call$dropped OVER w AS c$i" }
      def query: DataFrame = spark.sql(s"""SELECT id, ${columns.mkString(", ")} FROM (
           |  SELECT id, id % 7 + id / 8.0D AS y, IF(hash(id) % 3 = 0, NULL, $value) AS x
           |  FROM range(0, 300, 1, 1))
           |WINDOW w AS (ORDER BY id ROWS 40 PRECEDING)""".stripMargin)
      withSettings("spark.sql.ansi.enabled" -> "false") {
        checkSlides(query)
        val plain = withSash(enabled = false)(rows(query))
        assert(rows(query) == plain, "to the last bit")
      }
    }
  }
}
