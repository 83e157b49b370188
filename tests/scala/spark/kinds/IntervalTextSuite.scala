package io.sash.spark.kinds

import org.apache.spark.sql.AnalysisException

import io.sash.spark.SashSuite

/** A constant string where a kind takes an interval is that interval. */
class IntervalTextSuite extends SashSuite {
  private def answers(kinds: String, order: String): Seq[Any] = {
    val query = "SELECT count(*) OVER (PARTITION BY " + kinds + s" ORDER BY $order) FROM " +
      "(SELECT timestamp_seconds(id * id * 3600) ts, date_add(DATE'2020-01-01', int(id * id)) d " +
      "FROM range(9))"
    val frame = spark.sql(query)
    val rows = frame.collect().map(_.get(0)).toSeq
    assert(sliding(frame).nonEmpty)
    rows
  }

  test("each kind: a string is the interval of the same text") {
    for (
      (kinds, order) <- Seq(
        "time_window(?'9 hours')" -> "ts",
        "time_window(?'9 days')" -> "d",
        "time_window(?'1 month')" -> "d",
        "gap_window(?'9 hours')" -> "ts",
        "delta_window(ts, ?'20 hours')" -> "ts",
        "range_window(?'20 hours')" -> "ts",
        "gap_window(?'9 hours'), window_slide(?'5 hours')" -> "ts"
      )
    ) withClue(kinds) {
      assert(
        answers(kinds.replace("?", ""), order) == answers(kinds.replace("?", "INTERVAL "), order)
      )
    }
  }

  test("a string that is no interval, or not more than 0, is refused by the argument's name") {
    for (
      (kind, argument) <- Seq(
        "time_window('soon')" -> "size",
        "gap_window('soon')" -> "gap",
        "gap_window('-1 hour')" -> "gap",
        "gap_window('0 hours')" -> "gap",
        "delta_window(ts, 'soon')" -> "delta",
        "range_window('soon')" -> "preceding",
        "window_slide('soon')" -> "every",
        "window_slide('-1 hour')" -> "every"
      )
    ) withClue(kind) {
      val error = intercept[AnalysisException](answers(kind, "ts"))
      assert(error.getMessage.contains(s"`$argument`"), error.getMessage)
    }
  }
}
