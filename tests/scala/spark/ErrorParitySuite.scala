package io.sash.spark

import org.apache.spark.sql.Row

import io.sash.spark.base.SashConf
import io.sash.spark.monoids.Algorithm

/** What Spark refuses Sash refuses, by the same error; an exact sum that fits is no overflow. */
class ErrorParitySuite extends SashSuite {
  private val max = Long.MaxValue

  private def values(xs: Any*): String =
    xs.zipWithIndex.map { case (x, i) => s"($i, $x)" }.mkString("VALUES ", ", ", " AS t(id, x)")

  private def over(call: String, table: String, width: Int): String =
    s"SELECT id, $call OVER (ORDER BY id ROWS ${width - 1} PRECEDING) AS c FROM $table"

  private def ansi[T](enabled: Boolean)(body: => T): T =
    withSettings("spark.sql.ansi.enabled" -> enabled.toString)(body)

  private def column(query: String): Seq[Any] =
    spark.sql(query).collect().sortBy(_.getInt(0)).map(_.get(1)).toSeq

  test("a sum of longs that does not fit") {
    val query = over("sum(x)", values(max, 1L, 5L, -7L), 2)
    ansi(true)(assert(checkFails(query) == "ARITHMETIC_OVERFLOW"))
    ansi(false)(checkSlides(query))
  }

  test("a sum of longs that does not fit, under every algorithm") {
    val query = over("sum(x)", values(1L, max, 1L, 5L, -7L), 2)
    for (algorithm <- Algorithm.All) withSettings(SashConf.WindowAlgorithm.key -> algorithm.id) {
      ansi(true)(assert(checkFails(query) == "ARITHMETIC_OVERFLOW"))
      ansi(false)(checkSlides(query))
    }
  }

  test("a window whose exact sum fits never raises, in whatever order it is added up") {
    val query = "SELECT id, sum(x) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) " +
      s"AS c FROM ${values(max, 1L, -5L, 0L, 7L, -max, -1L)}"
    for (algorithm <- Algorithm.All) withSettings(SashConf.WindowAlgorithm.key -> algorithm.id) {
      ansi(true) {
        assert(column(query) == Seq(max - 4, -4L, 2L, 7 - max, 6 - max, -max - 1, -1L))
        // Spark fails on the way, at max + 1
        val error = intercept[Throwable](withSash(enabled = false)(column(query)))
        assert(ErrorCondition.of(error) == "ARITHMETIC_OVERFLOW")
      }
    }
  }

  test("try_sum is NULL where the sum does not fit") {
    val query = over("try_sum(x)", values(max, 1L, 5L, -7L, -max), 2)
    for (enabled <- Seq(true, false)) ansi(enabled) {
      checkSlides(query)
      assert(column(query) == Seq[Any](max, null, 6L, -2L, null))
    }
  }

  test("a sum of decimals that does not fit") {
    val large = "CAST(9e37 AS DECIMAL(38, 0))"
    val query = over("sum(x)", values(large, s"-$large", large, large, "NULL"), 2)
    ansi(true)(assert(checkFails(query) == "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"))
    ansi(false)(checkSlides(query))
    checkSlides(over("try_sum(x)", values(large, s"-$large", large, large, "NULL"), 2))
  }

  test("a sum of intervals that does not fit") {
    for (unit <- Seq("DAY" -> "80000000", "MONTH" -> "1500000000")) {
      val large = s"INTERVAL '${unit._2}' ${unit._1}"
      val query = over("sum(x)", values(large, large, s"-$large"), 2)
      for (enabled <- Seq(true, false)) ansi(enabled)(checkFails(query))
    }
  }

  /** Spark adds from left to right and meets no overflow here; another grouping might. */
  for {
    (x, calls) <- Seq(
      "CAST(9e37 AS DECIMAL(38, 0))" -> Seq("sum", "try_sum"),
      "INTERVAL '80000000' DAY" -> Seq("sum", "avg", "try_sum", "try_avg"),
      "INTERVAL '1500000000' MONTH" -> Seq("sum", "avg", "try_sum", "try_avg"),
      s"${max}L" -> Seq("sum", "try_sum")
    )
    call <- calls
  } test(s"rows that together do not fit do not spoil a window that does: $call of $x") {
    // the suffix of a window …
    checkSlides(over(s"$call(x)", values("NULL", s"-$x", x, x), 3))
    // … and the newest row beside one that is about to leave
    checkSlides(over(s"$call(x)", values(x, x, s"-$x", s"-$x"), 1))
  }

  test("corr of a constant divides by zero") {
    val query = "SELECT id, corr(x, 1) OVER (ORDER BY id ROWS 2 PRECEDING) AS approx_c FROM " +
      values(1.5, 1.5, 2.5)
    ansi(true)(assert(checkFails(query) == "DIVIDE_BY_ZERO"))
    ansi(false)(checkSlides(query))
  }

  test("frames that Spark rejects") {
    def sum(over: String): String =
      s"SELECT id, sum(x) OVER ($over) AS c FROM ${values(1, 2, 3)}"
    val mismatch = "DATATYPE_MISMATCH"
    assert(
      checkFails(sum("ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING")) ==
        s"$mismatch.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON"
    )
    assert(
      checkFails(sum("ORDER BY id, x RANGE BETWEEN 1 PRECEDING AND CURRENT ROW")) ==
        s"$mismatch.RANGE_FRAME_MULTI_ORDER"
    )
    assert(
      checkFails(sum("RANGE BETWEEN 1 PRECEDING AND CURRENT ROW")) ==
        s"$mismatch.RANGE_FRAME_WITHOUT_ORDER"
    )
    assert(
      checkFails(sum("ORDER BY id ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW")) ==
        s"$mismatch.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE"
    )
    assert(
      checkFails(
        sum("ORDER BY DATE'2020-01-01' RANGE BETWEEN INTERVAL '3' HOUR PRECEDING AND CURRENT ROW")
      ) ==
        s"$mismatch.RANGE_FRAME_INVALID_TYPE"
    )
    assert(
      checkFails(sum("ORDER BY map(id, x) ROWS 1 PRECEDING")) ==
        "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"
    )
    checkFails(sum("ORDER BY id ROWS BETWEEN CAST(NULL AS INT) PRECEDING AND CURRENT ROW"))
  }

  test("an aggregate that fails on a row fails in the same way") {
    val query = s"SELECT id, sum(10 / x) OVER (ORDER BY id ROWS 1 PRECEDING) AS c FROM " +
      values(1, 0, 2)
    ansi(true)(assert(checkFails(query) == "DIVIDE_BY_ZERO"))
  }

  test("an unknown algorithm names those that there are") {
    val error = intercept[IllegalArgumentException] {
      spark.conf.set(SashConf.WindowAlgorithm.key, "three-stacks")
    }
    val allowed = Algorithm.Auto +: Algorithm.All.map(_.id)
    assert(allowed.forall(error.getMessage.contains), error.getMessage)
    assert(spark.conf.get(SashConf.WindowAlgorithm.key) == Algorithm.Auto)
  }

  test("a row of a window is right whatever its neighbours are") {
    val rows = spark.sql(over("sum(x)", values(3, "NULL", "NULL", 4), 2)).collect()
    assert(rows.toSeq == Seq(Row(0, 3L), Row(1, 3L), Row(2, null), Row(3, 4L)))
  }

  test("answers that differ from Spark's are those that README names") {
    def last(call: String, values: String): (Any, Any) = {
      val query =
        s"SELECT id, $call OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) " +
          s"FROM VALUES $values AS t(id, x)"
      def answer: Any = spark.sql(query).collect().maxBy(_.getInt(0)).get(1)
      assert(sliding(spark.sql(query)).nonEmpty)
      (answer, withSash(enabled = false)(answer))
    }
    val onTheWay = s"(1, ${Long.MaxValue}L), (2, 1L), (3, -1L)"
    assert(last("try_sum(x)", onTheWay) == ((Long.MaxValue, null)))
    val (sash, theirs) = last("stddev(x)", "(1, 1e308D), (2, -1e308D), (3, 2D)")
    assert(sash == Double.PositiveInfinity && theirs.asInstanceOf[Double].isNaN, theirs)
  }
}
