package io.sash.spark.streams.plan

import org.apache.spark.sql.DataFrame

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, SashLog, StreamSuite}

/** The log says, once a run, that a batch has dropped many rows as late. */
class LateRowsSuite extends StreamSuite {
  import StreamSuite._

  private val over = sql(
    "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a FROM events"
  ) _
  private val hops = sql(
    "SELECT k, count(*) AS c FROM events GROUP BY k, window(ts, '20 seconds', '10 seconds')"
  ) _

  private def rows(first: Int, count: Int): Seq[Event] =
    (first until first + count).map(i => at(i.toLong, i, k = i % 3))

  private def warnings(query: DataFrame => DataFrame, batches: Seq[Event]*): Seq[String] =
    streaming()(inDirectory { checkpoint =>
      val source = new Source("10 seconds", checkpoint)
      SashLog.logged(
        {
          source.start(query)
          batches.foreach(source.add)
          source.stop()
        },
        "io.sash.spark.streams.plan.LateRows"
      )
    })

  for ((kind, query) <- Seq("OVER" -> over, "hops" -> hops))
    test(s"a backfill out of order: one warning, with the column, counts and a remedy: $kind") {
      val Seq(said) = warnings(query, rows(3600, 20), rows(0, 30), rows(60, 30))
      Seq("dropped 30 of 30 rows", "watermark on ts", "in the order of their event times")
        .foreach(words => assert(said.contains(words)))
    }

  test("no warning for few late rows, or for a small share of them", Slow) {
    assert(warnings(over, rows(3600, 20), rows(0, 9)).isEmpty)
    assert(warnings(over, rows(3600, 20), rows(3620, 90) ++ rows(0, 10)).isEmpty)
    assert(warnings(over, rows(3600, 20), rows(3620, 89) ++ rows(0, 10)).length == 1)
  }
}
