package io.sash.spark.kinds

import io.sash.spark.RowEquality

/** How far apart rows are, in every type that orders and attributes have. */
class WindowExtentSuite extends ItemsSuite {

  test("widths of one length for all rows are those of a frame by time") {
    create(seed = 5)
    spark
      .sql(
        "SELECT *, timestamp_seconds(at * 7 - 300) AS ts, make_date(2020, 1 + at % 12, 1 + at % 28) AS day," +
          " timestamp_ntz'2020-03-29 00:00:00' + make_dt_interval(0, at) AS ntz FROM items"
      )
      .createOrReplaceTempView("timed")
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin") {
      for (
        (order, width) <- Seq(
          "ts" -> "INTERVAL 1 MINUTE",
          "ts DESC" -> "INTERVAL '1 02:03:04' DAY TO SECOND",
          "ts" -> "make_interval(0, 0, 0, 1, 2)",
          "ntz" -> "INTERVAL 2 DAYS",
          "ntz DESC" -> "INTERVAL 1 MONTH",
          "day" -> "INTERVAL 2 MONTHS",
          "day DESC NULLS FIRST" -> "INTERVAL 30 DAYS",
          "day" -> "30",
          "CAST(at AS DECIMAL(9, 2))" -> "2.50",
          "CAST(at AS TINYINT)" -> "3Y"
        )
      ) withClue(s"$order, $width") {
        def query(window: String) = spark.sql(
          s"SELECT id, sum(x) OVER (PARTITION BY k, $window ORDER BY $order) AS c FROM timed"
        )
        val own = query(s"range_window(IF(id IS NULL, NULL, $width))")
        val difference =
          RowEquality.difference(
            query(s"time_window($width)").collect().toSeq,
            own.collect().toSeq
          )
        assert(difference.isEmpty, difference.getOrElse(""))
      }
    }
  }

  for {
    ansi <- Seq("true", "false")
    (window, expected, values) <- Seq(
      // of another type than the attribute, which no double tells apart
      (
        "delta_window(i, 100.0)",
        Seq(1, 1, 2),
        "(1, 1700000000000000000), (2, 1700000000000000101), (3, 1700000000000000201)"
      ),
      (
        "gap_window(100.0)",
        Seq(1, 1, 2),
        "(1, 1700000000000000000), (2, 1700000000000000100), (3, 1700000000000000199)"
      ),
      (
        "delta_window(i, 0.5)",
        Seq(1, 1, 1),
        "(1, 12345678901234567890123), (2, 12345678901234567890124), (3, 12345678901234567890125)"
      ),
      ("delta_window(i, 0.5)", Seq(1, 2, 1), "(1, 1Y), (2, 1Y), (3, 2Y)"),
      ("delta_window(i, 0.5)", Seq(1, 2, 1), "(1, 1.25D), (2, 1.75D), (3, 2.5D)"),
      // at the ends of a type
      ("delta_window(i, 10)", Seq(1, 2, 1), "(1, -2147483648), (2, -2147483647), (3, 5)"),
      ("delta_window(i, 100Y)", Seq(1, 2), "(1, -78Y), (2, 3Y)"),
      ("gap_window(10)", Seq(1, 2, 3), "(1, 2147483640), (2, 2147483646), (3, 2147483647)"),
      (
        "delta_window(i, 10)",
        Seq(1, 2, 1),
        "(1, -9223372036854775808), (2, -9223372036854775807), (3, 5L)"
      ),
      (
        "gap_window(10)",
        Seq(1, 2, 1, 2),
        "(1, 5L), (2, 6L), (3, 9223372036854775800), (4, 9223372036854775807)"
      ),
      (
        "gap_window(9223372036854775807)",
        Seq(1, 1, 2, 3),
        "(1, -9223372036854775808), (2, -1L), (3, 3L), (4, 9223372036854775805)"
      ),
      (
        "range_window(o)",
        Seq(1, 2, 1),
        "(1, -9223372036854775808), (2, -9223372036854775807), (3, 5L)"
      ),
      ("range_window(-o)", Seq(0, 0), "(1, 9223372036854775806), (2, 9223372036854775807)"),
      ("time_window(2.9D)", Seq(1, 2, 1), "(1, 1), (2, 3), (3, 6)")
    )
  } test(s"$window of $values, ANSI $ansi") {
    withSettings("spark.sql.ansi.enabled" -> ansi) {
      val rows = spark
        .sql(
          s"SELECT o, count(*) OVER (PARTITION BY $window ORDER BY i) AS c " +
            s"FROM VALUES $values AS v(o, i)"
        )
        .collect()
        .sortBy(_.getInt(0))
      assert(rows.map(_.getLong(1).toInt).toSeq == expected)
    }
  }
}
