package io.sash.spark.kinds

import org.apache.spark.sql.AnalysisException

import org.scalatest.tags.Slow

import io.sash.spark.SashSuite

/** Time windows that begin at a multiple of a hop, against joins. */
@Slow
final class SawtoothSuite extends SashSuite {
  private val hours = "INTERVAL '1' HOUR * (id * 7 % 60)"

  /** An order, a size, a hop, and the begin of the window of a row `a` of an order by it. */
  private val orders = Seq(
    ("INT", "CAST(id * 7 % 60 - 30 AS INT)", "6", "4", "4 * CAST(floor((a.t - 6) / 4) AS INT)"),
    ("BIGINT", "id * 7 % 60 - 30", "6", "9", "9 * CAST(floor((a.t - 6) / 9) AS BIGINT)"),
    (
      "DATE",
      "date_add(DATE'1969-12-20', CAST(id * 7 % 60 AS INT))",
      "6",
      "INTERVAL 4 DAYS",
      "date_add(DATE'1970-01-01', CAST(4 * floor((datediff(a.t, DATE'1970-01-01') - 6) / 4) AS INT))"
    ),
    (
      "DATE by months",
      "date_add(DATE'1969-12-20', CAST(id * 7 % 60 AS INT))",
      "INTERVAL 1 MONTH",
      "2",
      "date_add(DATE'1970-01-01', " +
        "CAST(2 * floor(datediff(a.t - INTERVAL 1 MONTH, DATE'1970-01-01') / 2) AS INT))"
    ),
    (
      "TIMESTAMP",
      s"TIMESTAMP'2026-03-27 22:17:00' + $hours",
      "'6 hours'",
      "'90 minutes'",
      "timestamp_seconds(5400 * floor(unix_seconds(a.t - INTERVAL 6 HOURS) / 5400))"
    ),
    (
      "TIMESTAMP by days of the zone",
      s"TIMESTAMP'2026-03-27 22:17:00' + $hours",
      "'1 day'",
      "'1 day'",
      "timestamp_seconds(86400 * floor(unix_seconds(a.t - INTERVAL 1 DAY) / 86400))"
    ),
    (
      "TIMESTAMP_NTZ",
      s"TIMESTAMP_NTZ'1969-12-31 02:17:00' + $hours",
      "INTERVAL 6 HOURS",
      "INTERVAL 90 MINUTES",
      "timestampadd(SECOND, CAST(5400 * floor(timestampdiff(MICROSECOND, " +
        "TIMESTAMP_NTZ'1970-01-01', a.t - INTERVAL 6 HOURS) / 5400000000) AS INT), " +
        "TIMESTAMP_NTZ'1970-01-01')"
    )
  )

  for {
    (name, time, size, hop, begin) <- orders
    closed <- Seq("both", "right", "left", "neither")
  } test(s"$closed, order by $name", each(6): _*) {
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin") {
      spark
        .sql(s"SELECT id, nullif(id % 3, 2) AS k, nullif($time, NULL) AS t FROM range(90)")
        .createOrReplaceTempView("timed")
      val least = if (closed == "right" || closed == "neither") ">" else ">="
      val most = if (closed == "left" || closed == "neither") "<" else "<="
      val expected = spark
        .sql(
          s"""SELECT a.id, sum(b.id), count(b.id), count(DISTINCT b.id % 7) FROM timed a
             |LEFT JOIN timed b ON a.k <=> b.k AND b.t $least $begin AND b.t $most a.t
             |GROUP BY a.id""".stripMargin
        )
        .collect()
        .toSet
      for (
        kind <- Seq(
          s"time_window($size, '$closed', hop => $hop)",
          s"time_window($size, '$closed', false, $hop)",
          s"time_window(hop => $hop, closed => '$closed', size => $size)"
        )
      ) {
        val over = s"OVER (PARTITION BY k, $kind ORDER BY t)"
        val actual = spark.sql(
          s"SELECT id, sum(id) $over, count(id) $over, count(DISTINCT id % 7) $over FROM timed"
        )
        assert(actual.collect().toSet == expected, kind)
        assert(sliding(actual).nonEmpty)
      }
    }
  }

  test("a descending order cuts upwards, and rows without a time are peers") {
    spark
      .sql("SELECT id, IF(id % 10 = 3, NULL, id * 7 % 60 - 30) AS t FROM range(50)")
      .createOrReplaceTempView("timed")
    val expected = spark.sql(
      """SELECT a.id, count(b.id) FROM timed a JOIN timed b
        |ON b.t >= a.t AND b.t <= 4 * ceil((a.t + 6) / 4) OR a.t IS NULL AND b.t IS NULL
        |GROUP BY a.id""".stripMargin
    )
    val actual = spark.sql(
      "SELECT id, count(*) OVER (PARTITION BY time_window(6, hop => 4) ORDER BY t DESC) FROM timed"
    )
    assert(actual.collect().toSet == expected.collect().toSet)
  }

  for (
    (time, extent) <- Seq(
      "CAST(id % 60 - 30 AS SMALLINT)" -> "4",
      "date_add(DATE'1969-12-20', CAST(id % 60 AS INT))" -> "'4 days'",
      "timestamp_seconds(id * 7 % 60)" -> "'4 seconds'",
      "CAST(timestamp_seconds(id * 7 % 60) AS TIMESTAMP_NTZ)" -> "'4 seconds'"
    )
  ) test(s"rows without a time are peers if an end is open: $time") {
    val counts = for {
      closed <- Seq("right", "left", "neither")
      order <- Seq("t", "t DESC")
    } yield s"""count(*) OVER (
               |  PARTITION BY time_window($extent, '$closed', hop => $extent) ORDER BY $order)
               |""".stripMargin
    val answers = spark.sql(
      s"""SELECT t, array(${counts.mkString(", ")}) FROM (
         |  SELECT IF(id % 10 = 3, NULL, $time) AS t FROM range(50))""".stripMargin
    )
    val ofNulls = answers.where("t IS NULL").collect().map(_.getSeq[Long](1))
    assert(ofNulls.toSeq == Seq.fill(5)(Seq.fill(6)(5L)))
    assert(sliding(answers).nonEmpty)
  }

  test("joined with another kind, and divided by it") {
    spark.sql("SELECT id AS t FROM range(40)").createOrReplaceTempView("timed")
    def over(kind: String) = spark
      .sql(s"SELECT t, count(*) OVER (PARTITION BY $kind ORDER BY t) FROM timed")
      .collect()
      .map(r => r.getLong(0) -> r.getLong(1))
      .toMap
    val alone = over("time_window(6, hop => 4)")
    assert(alone(20) == 20 - 12 + 1 && alone(21) == 21 - 12 + 1 && alone(22) == 22 - 16 + 1)
    val some = over("window_and(time_window(6, hop => 4), count_window(8))")
    assert(alone.forall { case (t, n) => some(t) == math.min(n, 8) })
  }

  test("a begin before all values is no error") {
    val least = "SELECT -9223372036854775808 + id AS t FROM range(8)"
    withSettings("spark.sql.ansi.enabled" -> "false") {
      val counts = spark.sql(
        s"SELECT count(*) OVER (PARTITION BY time_window(0, hop => 10) ORDER BY t) FROM ($least)"
      )
      assert(counts.collect().map(_.getLong(0)).toSeq == (1L to 8L))
    }
  }

  private val refusals = Seq(
    (
      "time_window('7 days', hop => '1 month')",
      "ts",
      "its hop has months, which differ in length"
    ),
    ("time_window(7, hop => 2)", "ts", "write the size as an interval"),
    ("time_window('7 days', hop => 2)", "ts", "write the hop as an interval"),
    ("time_window(7.5, hop => 2)", "id", "wants a hop and a size that are integers"),
    ("time_window(7, hop => 2)", "id * 0.5D", "has no units; order by integers, dates or"),
    ("time_window(7, hop => 0)", "id", "(0, infinity]"),
    ("time_window(7, 'both', true, 2)", "id", "has no middle; leave one of both out"),
    ("time_window(7, jump => 2)", "id", "UNRECOGNIZED_PARAMETER_NAME"),
    ("time_window(7, size => 2)", "id", "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT"),
    ("time_window(hop => 2)", "id", "REQUIRED_PARAMETER_NOT_FOUND"),
    ("time_window(7, hop => 2, 'both')", "id", "UNEXPECTED_POSITIONAL_ARGUMENT"),
    ("window_or(time_window(7, 'left', hop => 2), count_window(2))", "id", "may have no rows")
  )

  for ((kind, order, why) <- refusals) test(s"refused: $kind over $order") {
    val error = intercept[AnalysisException](
      spark.sql(
        s"""SELECT count(*) OVER (PARTITION BY $kind ORDER BY $order)
           |FROM (SELECT id, timestamp_seconds(id) AS ts FROM range(3))""".stripMargin
      )
    )
    assert(error.getMessage.contains(why), error.getMessage)
  }
}
