package io.sash.spark.streams.start

import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import io.sash.spark.{Event, SashLog, StreamSuite}

/** The log says that a group of a session and a window is a part of a session. */
class SplitSessionsSuite extends StreamSuite {
  private def warnings(query: String): Seq[String] = streaming() {
    val events: DataFrame = MemoryStream[Event](Encoders.product[Event], spark).toDF()
    val plan = sql(query)(events.withWatermark("ts", "1 second")).queryExecution.analyzed
    val statement = statementOf(plan, OutputMode.Append(), Trigger.ProcessingTime(0))
    val logger = "io.sash.spark.streams.start.SplitSessions"
    SashLog.logged({ StreamingWrite(statement); StreamingWrite(statement) }, logger)
  }

  private def grouped(kind: String, by: String): String =
    s"""SELECT k, $by, count(*) AS n FROM (
       |  SELECT *, begins AS start FROM (
       |    SELECT *, min(ts) OVER (PARTITION BY k, $kind ORDER BY ts) AS begins FROM events))
       |GROUP BY k, $by""".stripMargin

  private val session = "gap_window(INTERVAL 30 SECONDS)"

  test("a session's start beside a window: one warning, with the column and a remedy") {
    for (window <- Seq("window(ts, '1 minute')", "window(ts, '1 minute', '10 seconds')")) {
      val Seq(said) = warnings(grouped(session, s"start, $window"))
      Seq("an answer over a session (start)", "session_window(time, gap)")
        .foreach(words => assert(said.contains(words)))
    }
    assert(warnings(grouped(session, "date(start), window(ts, '1 day')")).length == 1)
  }

  test("no warning without the start, the window or the session") {
    assert(warnings(grouped(session, "window(ts, '1 minute')")).isEmpty)
    assert(warnings(grouped("count_window(3)", "start, window(ts, '1 minute')")).isEmpty)
    assert(
      warnings(
        "SELECT k, session_window(ts, '30 seconds'), count(*) FROM events GROUP BY ALL"
      ).isEmpty
    )
  }
}
