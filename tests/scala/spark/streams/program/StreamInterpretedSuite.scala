package io.sash.spark.streams.program

import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, StreamSuite}

/** Streams without generated code, which Spark falls back to where it does not compile. */
class StreamInterpretedSuite extends StreamSuite {
  import StreamSuite.{at, passed}

  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 3, size = 40, jitterSeconds = 25, keys = 3)

  private def interpreted(body: => Unit): Unit =
    streaming(
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
      "spark.sql.codegen.wholeStage" -> "false"
    )(
      body
    )

  private val w = "PARTITION BY k ORDER BY ts, id"

  for (
    (name, query) <- Seq(
      "DISTINCT" -> s"SELECT id, count(DISTINCT x) OVER ($w ROWS 40 PRECEDING) AS n FROM events",
      "answers beside the slots" ->
        s"""SELECT id, sum(DISTINCT x) FILTER (WHERE d > 20) OVER w AS d, median(d) OVER w AS m,
           |  mode(s, true) OVER w AS o, percentile(x, array(0.1, 0.9)) OVER w AS p, collect_set(s) OVER w AS set_s,
           |  count(DISTINCT s) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 20 SECONDS PRECEDING) AS r,
           |  rank_in_frame(x) OVER w AS ra, dense_rank_in_frame(d) OVER (PARTITION BY k ORDER BY ts
           |    RANGE INTERVAL 20 SECONDS PRECEDING) AS rb, cume_dist_in_frame(x) OVER
           |    (PARTITION BY k, delta_window(d, 30.0D) ORDER BY ts, id) AS rc
           |  FROM events WINDOW w AS ($w ROWS 20 PRECEDING)""".stripMargin,
      "rows and ranges" ->
        s"""SELECT id, sum(x) OVER ($w ROWS 4 PRECEDING) AS a, max(d) OVER ($w ROWS 70 PRECEDING) AS b,
           |  count(*) OVER ($w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c,
           |  avg(CAST(d AS DECIMAL(20, 3))) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 10 SECONDS PRECEDING) AS e,
           |  lag(s, 2) OVER ($w) AS l, row_number() OVER ($w) AS n, max_by(s, d) OVER ($w ROWS 9 PRECEDING) AS y,
           |  collect_list(x) OVER ($w ROWS 3 PRECEDING) AS z FROM events""".stripMargin,
      "sessions, slides, predicates" ->
        s"""SELECT id, sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS a,
           |  max(x) OVER (PARTITION BY k, gap_window('3 seconds', '7 seconds') ORDER BY ts) AS g,
           |  count(*) OVER (PARTITION BY k, count_window(9), window_slide(4) ORDER BY ts, id) AS b,
           |  count(*) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200) ORDER BY ts, id) AS c,
           |  count(DISTINCT s) OVER (PARTITION BY k, delta_window(d, 30.0D) ORDER BY ts, id) AS d,
           |  sum(x) OVER (PARTITION BY k, groups_window(3, 0) ORDER BY ts, id) AS e,
           |  min(x) OVER (PARTITION BY k, punctuation_window(d > 80) ORDER BY ts, id) AS f FROM events""".stripMargin
    )
  ) {
    val tags = if (name == "DISTINCT") Nil else Seq(Slow)
    test(s"append mode: $name", tags ++ each(3): _*) {
      interpreted(checkStream(batches(3), delaySeconds = 15, restartBefore = Set(2))(sql(query)))
    }
  }

  test("update mode") {
    interpreted {
      checkUpdates(batches(7), delaySeconds = 15, restartBefore = Set(2)) {
        sql(
          s"""SELECT id, sum(x) OVER ($w ROWS 4 PRECEDING) AS a, max(d) OVER ($w ROWS 70 PRECEDING) AS b,
             |  count(DISTINCT x) OVER ($w ROWS 9 PRECEDING) AS c, lag(s, 2) OVER ($w) AS l,
             |  sum(x) OVER (PARTITION BY k, groups_window(3, 0) ORDER BY ts, id) AS g FROM events""".stripMargin
        )
      }
    }
  }

  test("frames that look ahead", Slow) {
    def answered(rows: Seq[Event], watermark: Long) = passed(rows, watermark).dropRight(4)
    interpreted {
      checkStream(batches(5).init, delaySeconds = 15, Set(2), answered)(
        sql(
          s"""SELECT id, sum(x) OVER ($w ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS a, lead(id, 4, 0L) OVER ($w) AS b,
             |  count(DISTINCT x) OVER ($w ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS c FROM events""".stripMargin
        )
      )
    }
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"hops, $mode", Slow +: each(2): _*) {
      interpreted {
        checkHops(batches(9), mode = mode) {
          sql(
            """SELECT unix_micros(w.start) * 8 + coalesce(k, 7) AS id, w, count(*) AS c, sum(x) AS a, max(s) AS m,
            |  avg(CAST(d AS DECIMAL(20, 3))) AS d, approx_count_distinct(x) AS u
            |  FROM (SELECT *, window(ts, '25 seconds', '10 seconds') AS w FROM events) GROUP BY k, w""".stripMargin
          )
        }
      }
    }

  test(
    "answers that a batch finds in the process are those that it had left, in several windows",
    Slow
  ) {
    interpreted {
      withSource("0 seconds") { source =>
        val query = sql(
          s"""SELECT id, count(DISTINCT x) OVER ($w ROWS 5 PRECEDING) AS a,
             |  count(DISTINCT x) OVER ($w ROWS 50 PRECEDING) AS b FROM events""".stripMargin
        ) _
        val all = (0 until 4).map(b =>
          (0 until 30).map { i =>
            at(b * 30L + i, b * 30.0 + i, k = i % 2, x = i * 7 % 11)
          }
        )
        source.start(query)
        all.foreach(source.add)
        source.stop()
        val batch = query(spark.createDataFrame(all.flatten)).collect().toSeq
        val answers = source.rows.map(_.toSeq).toSet
        assert(answers.nonEmpty && answers.subsetOf(batch.map(_.toSeq).toSet))
        assert(answers.size > 110)
      }
    }
  }
}
