package io.sash.spark.windows

import org.apache.spark.sql.Row

import io.sash.spark.SashSuite

/**
 * Rows that tie come in the order in which Spark's own plan has them, where operators above a
 * window or below it sort: one partition, whose order everything here keeps.
 */
final class TiesSuite extends SashSuite {
  private val rows = "VALUES (2, 1, 5), (1, 1, 3), (2, 1, 1), (1, 1, 9), (2, 1, 4), (1, 1, 2), " +
    "(1, 2, 8), (2, 2, 7), (1, 2, 6) AS r(k, t, x)"

  private def answers(query: String, enabled: Boolean): Seq[Row] =
    withSash(enabled) {
      val frame = spark.sql(query)
      val answers = frame.collect().toSeq
      assert(sliding(frame).nonEmpty == enabled)
      answers
    }

  private def check(name: String, query: String): Unit = test(name) {
    spark.sql(s"SELECT * FROM $rows").coalesce(1).createOrReplaceTempView("tied")
    withSettings("spark.sql.shuffle.partitions" -> "1") {
      assert(answers(query, enabled = true) == answers(query, enabled = false))
    }
  }

  check(
    "a sort above, by more columns than the window's order",
    """SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t ROWS 1 PRECEDING) AS s FROM tied
      |ORDER BY k, t, x""".stripMargin
  )

  check(
    "a sort of each partition above, by more columns than the window's order",
    """SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t ROWS 1 PRECEDING) AS s FROM tied
      |SORT BY k, t, x""".stripMargin
  )

  check(
    "a window above sees the keys of the window below in their order",
    """SELECT *, sum(s) OVER (ORDER BY t ROWS 1 PRECEDING) AS above FROM
      |  (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t ROWS 2 PRECEDING) AS s FROM tied)
      |""".stripMargin
  )

  check(
    "the order of the rows that come in",
    """SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t ROWS 1 PRECEDING) AS s FROM tied
      |ORDER BY k, t""".stripMargin
  )
}
