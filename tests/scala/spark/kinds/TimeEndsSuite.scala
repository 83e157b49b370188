package io.sash.spark.kinds

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, SashSuite}

/** The ends and the middle of time_window, and min_periods, against joins and counts. */
@Slow
final class TimeEndsSuite extends SashSuite {
  private val hours = "INTERVAL '1' HOUR * (id * 7 % 60)"

  private val orders = Seq(
    ("INT", "CAST(id * 7 % 60 AS INT)", "6", "3"),
    ("BIGINT", "id * 7 % 60", "7", "3.5"),
    ("DATE", "date_add(DATE'2026-02-01', CAST(id * 7 % 60 AS INT))", "6", "3"),
    (
      "DATE by interval",
      "date_add(DATE'2026-02-01', CAST(id * 7 % 60 AS INT))",
      "INTERVAL 6 DAYS",
      "INTERVAL 3 DAYS"
    ),
    (
      "DATE by seconds",
      "date_add(DATE'2026-02-01', CAST(id * 7 % 60 AS INT))",
      "INTERVAL '6 00:00:00' DAY TO SECOND",
      "INTERVAL '3' DAY"
    ),
    (
      "DATE by months",
      "date_add(DATE'2026-02-01', CAST(id * 7 % 60 AS INT))",
      "INTERVAL 2 MONTHS",
      "INTERVAL 1 MONTH"
    ),
    (
      "DATE by months, with leap days",
      "date_add(DATE'2027-12-25', CAST(id * 37 % 400 AS INT))",
      "INTERVAL 1 YEAR",
      "INTERVAL 6 MONTHS"
    ),
    (
      "TIMESTAMP",
      s"TIMESTAMP'2026-03-27 22:00:00' + $hours",
      "INTERVAL 6 HOURS",
      "INTERVAL 3 HOURS"
    ),
    (
      "TIMESTAMP by days",
      s"TIMESTAMP'2026-03-27 22:00:00' + $hours",
      "INTERVAL 1 DAY",
      "INTERVAL 12 HOURS"
    ),
    (
      "TIMESTAMP by months",
      "TIMESTAMP'2026-03-27 22:00:00' + INTERVAL '1' DAY * id",
      "INTERVAL 2 MONTHS",
      "INTERVAL 1 MONTH"
    ),
    (
      "TIMESTAMP_NTZ",
      s"TIMESTAMP_NTZ'2026-03-27 22:00:00' + $hours",
      "INTERVAL 6 HOURS",
      "INTERVAL 3 HOURS"
    )
  )

  for {
    (name, time, size, half) <- orders
    closed <- Seq("both", "right", "left", "neither")
  } test(s"$closed, order by $name", each(4): _*) {
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin") {
      spark
        .sql(s"SELECT id, nullif(id % 3, 2) AS k, nullif($time, NULL) AS t FROM range(90)")
        .createOrReplaceTempView("timed")
      for (center <- Seq("false", "true")) {
        val (before, after) = if (center == "true") (half, half) else (size, null)
        val end = if (after == null) "a.t" else s"a.t + $after"
        val least = if (closed == "right" || closed == "neither") ">" else ">="
        val most = if (closed == "left" || closed == "neither") "<" else "<="
        val expected = spark.sql(
          s"""SELECT a.id, sum(b.id), count(b.id) FROM timed a LEFT JOIN timed b
             |ON a.k <=> b.k AND b.t $least a.t - $before AND b.t $most $end
             |GROUP BY a.id""".stripMargin
        )
        val kind = s"time_window($size, '$closed', $center)"
        val over = s"OVER (PARTITION BY k, $kind ORDER BY t)"
        val actual = spark.sql(s"SELECT id, sum(id) $over, count(id) $over FROM timed")
        assert(actual.collect().toSet == expected.collect().toSet, kind)
        assert(sliding(actual).nonEmpty)
      }
    }
  }

  private val windows = Seq(
    "PARTITION BY k%s ORDER BY t ROWS 3 PRECEDING",
    "PARTITION BY k%s ORDER BY t RANGE BETWEEN 5 PRECEDING AND 2 FOLLOWING",
    "PARTITION BY k, gap_window(4)%s ORDER BY t",
    "PARTITION BY k, count_window(4), window_slide(2)%s ORDER BY t",
    "PARTITION BY k, groups_window(4), window_exclude('group')%s ORDER BY t",
    "PARTITION BY time_window(5, 'left')%s ORDER BY t",
    "PARTITION BY k%s"
  )

  private val calls = Seq(
    ("sum(x)", "x", ""),
    ("max(struct(x, y))", "struct(x, y)", ""),
    ("corr(x, y)", "x, y", ""),
    ("count(*)", "1", ""),
    ("avg(x)", "x", " FILTER (WHERE y > 3)"),
    ("percentile(x, 0.4)", "x", "")
  )

  for (window <- windows) test(s"min_periods in ${window.format("")}", each(3): _*) {
    spark
      .sql(
        """SELECT id % 2 AS k, id * 7 % 40 AS t, nullif(id % 5, 2) AS x, nullif(id % 7, 3) AS y
          |FROM range(40)""".stripMargin
      )
      .createOrReplaceTempView("sparse")
    val columns = calls.zipWithIndex.map { case ((call, values, filter), i) =>
      val wanted = s"$call$filter OVER (${window.format(", window_min_periods(3)")}) AS a$i"
      val plain = window.format("")
      val compared = s"if(count($values)$filter OVER ($plain) >= 3, " +
        s"$call$filter OVER ($plain), NULL) AS b$i"
      s"$wanted, $compared"
    }
    val frame = spark.sql(s"SELECT t, ${columns.mkString(", ")} FROM sparse")
    val rows = frame.collect()
    assert(rows.length == 40)
    assert(sliding(frame).nonEmpty == window.contains("ORDER BY"))
    for (row <- rows; i <- calls.indices)
      assert(row.get(1 + 2 * i) == row.get(2 + 2 * i), s"${calls(i)._1} at $row")
    assert(rows.exists(r => !r.isNullAt(1)), "all are NULL")
  }

  test("min_periods wants the arguments as they are written") {
    val over = "OVER (PARTITION BY window_min_periods(2) ORDER BY id ROWS 2 PRECEDING)"
    val calls = Seq(
      "count_if(x > 1)",
      "count(NULL)",
      "first_n(NULL, 2)",
      "percentile(x, 0.5)",
      "listagg(string(x))"
    )
    val asked = calls.map(c => s"$c $over").mkString(", ")
    val rows = spark
      .sql(s"SELECT $asked FROM VALUES (0, NULL), (1, 1), (2, 2), (3, 3) AS r(id, x)")
      .collect()
      .map(_.toSeq)
      .toSeq
    assert(rows.map(_.head) == Seq[Any](null, null, 1L, 2L))
    assert(rows.map(_(1)) == Seq.fill[Any](4)(null) && rows.map(_(2)) == Seq.fill[Any](4)(null))
    assert(rows.map(_(3)) == Seq[Any](null, null, 1.5, 2.0))
    assert(rows.map(_(4)) == Seq[Any](null, null, "12", "123"))
  }

  test("min_periods counts no field of a struct and no other column of lambdas") {
    val over = "OVER (PARTITION BY window_min_periods(2) ORDER BY id ROWS 2 PRECEDING)"
    val sum = "(a, b) -> a + b"
    val rows = spark
      .sql(s"""SELECT monoid_agg(struct(x, y), s -> 1, $sum) $over,
              |  monoid_agg(id, i -> i + coalesce(x, 0), $sum) $over,
              |  monoid_agg(IF(id > 1, struct(x), NULL), s -> 1, $sum) $over,
              |  monoid_agg(1, i -> i + coalesce(y, 0), $sum) $over
              |FROM VALUES (0, NULL, 1), (1, 2, NULL), (2, 3, 4), (3, 5, 6) AS r(id, x, y)
              |""".stripMargin)
      .collect()
      .map(_.toSeq)
      .toSeq
    assert(rows.map(_.head) == Seq[Any](null, 2, 3, 3))
    assert(rows.map(_(1)) == Seq[Any](null, 3, 8, 16))
    assert(rows.map(_(2)) == Seq[Any](null, null, null, 2))
    assert(rows.map(_(3)) == Seq[Any](null, 3, 8, 13))
  }

  for (
    modifier <- Seq("window_min_periods(2)", "window_slide(2)");
    call <- Seq("count(*)", "collect_list(id)", "max_n(id, 2)")
  ) test(s"a lambda around $call sees the NULLs of $modifier") {
    val over = s"$call OVER (PARTITION BY $modifier ORDER BY id ROWS 1 PRECEDING)"
    val rows = spark
      .sql(s"""SELECT transform(array($over), c -> c IS NULL)[0],
              |  size(filter(array($over), c -> c IS NOT NULL)), $over IS NULL
              |FROM range(3)""".stripMargin)
      .collect()
    val empty =
      if (modifier.contains("slide")) Seq(true, false, true) else Seq(true, false, false)
    assert(rows.map(_.getBoolean(0)).toSeq == empty)
    assert(rows.map(_.getInt(1) == 0).toSeq == empty)
    assert(rows.map(_.getBoolean(2)).toSeq == empty)
  }

  test("the name of a column is the call as it is written") {
    val call = "count(1) OVER (PARTITION BY window_min_periods(2) ORDER BY id"
    assert(spark.sql(s"SELECT $call) FROM range(3)").columns.head.startsWith(call))
  }

  test("half of an odd number of units lies between two of them, open or not") {
    def lists(kind: String, order: String): Seq[Seq[Long]] = {
      val over = s"OVER (PARTITION BY $kind ORDER BY $order)"
      val frame = spark.sql(s"SELECT collect_list(id) $over FROM range(5)")
      assert(sliding(frame).nonEmpty)
      frame.collect().map(_.getSeq[Long](0).toSeq).toSeq
    }
    val orders = Seq[(String, Int => String)](
      "id" -> (n => s"$n"),
      "date_add(DATE'2026-03-27', int(id))" -> (n => s"'$n days'"),
      "timestamp_micros(id)" -> (n => s"'$n microseconds'"),
      "CAST(timestamp_micros(id) AS TIMESTAMP_NTZ)" -> (n => s"'$n microseconds'"),
      "id DESC" -> (n => s"$n")
    )
    for ((order, size) <- orders; n <- 1 to 6; closed <- DurationWindow.Ends) {
      val ids = if (order.endsWith("DESC")) (4L to 0L by -1) else 0L to 4L
      val sign = if (order.endsWith("DESC")) -1 else 1
      val expected = ids.map { at =>
        ids.filter { id =>
          val twice = 2 * sign * (id - at)
          (twice > -n || twice == -n && Set("left", "both")(closed)) &&
          (twice < n || twice == n && Set("right", "both")(closed))
        }
      }
      val kind = s"time_window(${size(n)}, '$closed', true)"
      assert(lists(kind, order) == expected, s"$kind by $order")
    }
  }

  for {
    (kind, order, says) <- Seq(
      ("time_window(1, 'neither')", "id", "no value of the order lies within it"),
      ("time_window(1.5, 'left')", "id * 0.5D", "has no units"),
      (
        "time_window(INTERVAL 1 MONTH, 'both', true)",
        "timestamp_seconds(id)",
        "half of its months"
      )
    )
  } test(s"refused: $kind") {
    val error = intercept[Exception](
      spark
        .sql(s"SELECT sum(id) OVER (PARTITION BY $kind ORDER BY $order) FROM range(3)")
        .collect()
    )
    assert(ErrorCondition.of(error) == "INVALID_PARAMETER_VALUE.PATTERN")
    assert(error.getMessage.contains(says), error.getMessage)
  }
}
