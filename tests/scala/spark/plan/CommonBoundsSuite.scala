package io.sash.spark.plan

import org.apache.spark.sql.AnalysisException

import io.sash.spark.SashSuite

/** RANGE frames whose bounds are intervals in two units. */
final class CommonBoundsSuite extends SashSuite {
  private def query(frame: String, orders: String*): String = {
    val counts = orders.zipWithIndex.map { case (order, i) =>
      s"sum(id) OVER (PARTITION BY id % 2 ORDER BY $order RANGE BETWEEN $frame) AS c$i"
    }
    s"SELECT id, ${counts.mkString(", ")} FROM times"
  }

  private def create(): Unit = spark
    .sql(
      """SELECT *, CAST(t AS DATE) AS d, CAST(t AS TIMESTAMP_NTZ) AS n FROM
        |  (SELECT id, TIMESTAMP'2026-03-01 00:00:00' +
        |    make_dt_interval(i * 13 % 60, i * 7 % 24, 0, i) AS t
        |  FROM (SELECT id, int(id) AS i FROM range(60)))
        |""".stripMargin
    )
    .createOrReplaceTempView("times")

  for {
    (two, one, orders) <- Seq(
      (
        "INTERVAL 50 HOURS PRECEDING AND INTERVAL 2 SECOND PRECEDING",
        "INTERVAL '2 02:00:00' DAY TO SECOND PRECEDING AND " +
          "INTERVAL '0 00:00:02' DAY TO SECOND PRECEDING",
        Seq("t", "n", "t DESC")
      ),
      (
        "INTERVAL 3 DAYS PRECEDING AND INTERVAL '10:30' HOUR TO MINUTE FOLLOWING",
        "INTERVAL '3 00:00:00' DAY TO SECOND PRECEDING AND " +
          "INTERVAL '0 10:30:00' DAY TO SECOND FOLLOWING",
        Seq("t", "n DESC")
      ),
      (
        "INTERVAL 1 YEAR PRECEDING AND INTERVAL 1 MONTH PRECEDING",
        "INTERVAL '1-0' YEAR TO MONTH PRECEDING AND INTERVAL '0-1' YEAR TO MONTH PRECEDING",
        Seq("t", "n", "d", "d DESC")
      ),
      (
        "INTERVAL 1 MONTH PRECEDING AND INTERVAL 2 DAYS FOLLOWING",
        "INTERVAL 1 MONTH PRECEDING AND INTERVAL 2 DAYS FOLLOWING",
        Seq("t", "n", "t DESC")
      )
    )
  } test(s"RANGE BETWEEN $two") {
    create()
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin") {
      // where the units are one type: months and days are so in Spark's legacy intervals alone
      val legacy = "spark.sql.legacy.interval.enabled" -> (one == two).toString
      val expected = withSettings(legacy) {
        withSash(enabled = false)(spark.sql(query(one, orders: _*)).collect())
      }
      val ours = spark.sql(query(two, orders: _*))
      assert(sliding(ours).length == orders.length)
      assert(ours.collect().toSet == expected.toSet)
      assert(expected.map(_.get(1)).toSet.size > 9)
      intercept[AnalysisException](withSash(enabled = false)(spark.sql(query(two, orders: _*))))
    }
  }

  for {
    (order, frame) <- Seq(
      "d" -> "INTERVAL 1 DAY PRECEDING AND INTERVAL 2 HOURS FOLLOWING",
      "d" -> "INTERVAL 1 MONTH PRECEDING AND INTERVAL 1 DAY PRECEDING",
      "t" -> "INTERVAL 1 HOUR PRECEDING AND 0 FOLLOWING",
      "t, id" -> "INTERVAL 1 DAY PRECEDING AND INTERVAL 2 HOURS FOLLOWING"
    )
  } test(s"Spark's own error stays: ORDER BY $order RANGE BETWEEN $frame") {
    create()
    def error(enabled: Boolean) = withSash(enabled) {
      intercept[AnalysisException](spark.sql(query(frame, order)))
    }
    val (ours, theirs) = (error(enabled = true), error(enabled = false))
    assert(ours.getCondition == theirs.getCondition)
    assert(ours.getSimpleMessage == theirs.getSimpleMessage)
  }

  test("bounds in a wrong order") {
    create()
    val e = intercept[AnalysisException] {
      spark.sql(query("INTERVAL 2 SECONDS PRECEDING AND INTERVAL 1 HOUR PRECEDING", "t"))
    }
    assert(e.getCondition == "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON")
  }

  test("a window that is named") {
    val rows = spark.sql(
      """SELECT count(*) OVER w FROM VALUES (TIMESTAMP'2026-03-01 00:00:00'),
        |  (TIMESTAMP'2026-03-01 00:59:59'), (TIMESTAMP'2026-03-01 01:00:00') AS v(t)
        |WINDOW w AS (ORDER BY t
        |  RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND INTERVAL 1 SECOND PRECEDING)""".stripMargin
    )
    assert(rows.collect().map(_.getLong(0)).toSeq == Seq(0L, 1L, 2L))
  }
}
