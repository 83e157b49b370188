package io.sash.spark.streams.late

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.streams.state.SmallChunks

/** A late row counts in the windows of later rows, if they reach back to it. */
class CountLateRowsSuite extends StreamSuite {
  import StreamSuite._

  private def over(call: String, seconds: Int): String =
    s"$call OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL $seconds SECONDS PRECEDING)"

  private val query = (rows: DataFrame) =>
    rows.selectExpr(
      "id",
      over("sum(x)", 20),
      over("count(*)", 20),
      over("max(x)", 70),
      over("avg(x)", 70),
      over("sum(x) FILTER (WHERE id % 2 = 0)", 70)
    )

  private def answers(rows: Seq[Row]): Map[Long, Seq[Any]] =
    rows.map(r => r.getLong(0) -> r.toSeq).toMap

  /** Each answer equals the batch's over all rows that had come when it was given last. */
  private def check(seed: Long, mode: OutputMode): Unit = inDirectory { folder =>
    val random = new Random(seed)
    val all = StreamSuite.batches(seed, count = 6, size = 60, jitterSeconds = 90, keys = 3)
    streaming(Setting -> "count") {
      val source = new Source("15 seconds", folder, mode)
      source.start(query)
      var seen = 0
      var changed = 0
      all.indices.foreach { i =>
        if (random.nextInt(3) == 0) {
          source.stop()
          source.start(query)
        }
        source.add(all(i))
        val come = all.take(i + 1)
        val now = answers(source.rows.drop(seen))
        seen = source.rows.length
        val (inTime, _) = onTime(come, delaySeconds = 15)
        assert(now.keySet.subsetOf(inTime.map(_.id).toSet), s"seed $seed, batch $i")
        val expected = answers(query(spark.createDataFrame(come.flatten)).collect().toSeq)
        now.foreach { case (id, answer) =>
          assert(answer == expected(id), s"seed $seed, batch $i")
        }
        val dropping = answers(query(spark.createDataFrame(inTime)).collect().toSeq)
        changed += now.count { case (id, answer) => dropping(id) != answer }
      }
      val (inTime, _) = onTime(all, delaySeconds = 15)
      val end = if (mode == OutputMode.Append()) Set(all.flatten.last.id) else Set.empty[Long]
      assert(answers(source.rows).keySet == inTime.map(_.id).toSet -- end, s"seed $seed")
      assert(changed > 0, "vacuous: no late row counts")
      source.stop()
    }
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"answers equal the batch's over all rows that have come: $mode mode") {
      SmallChunks(check(11, mode))
    }

  test("answers equal the batch's over all rows that have come: random arrivals", Thorough) {
    for (seed <- 200L until 220L; mode <- Seq(OutputMode.Append(), OutputMode.Update()))
      SmallChunks(check(seed, mode))
  }

  test("a row is dropped once no window of a row to come reaches back to it") {
    withCounted(Seq(at(1, 0), at(2, 100))) { source =>
      // the watermark is at 85 seconds, and the longest window has 70
      source.add(Seq(at(3, 15), at(4, 15.001), at(5, 70)))
      assert(dropped == 1)
      source.add(Seq(at(6, 200)))
      val expected =
        answers(query(spark.createDataFrame(Seq(at(2, 100), at(5, 70)))).collect().toSeq)
      assert(answers(source.rows)(2) == expected(2))
    }
  }

  test("late rows of a key without other rows", Slow) {
    withCounted(Seq(at(1, 0), at(2, 100))) { source =>
      source.add(Seq(at(3, 60, k = 2), at(4, 50, k = 2, x = 5)))
      source.add(Seq(at(5, 55, k = 2, x = 7)))
      source.add(Seq(at(6, 110, k = 2)))
      source.add(Seq(at(7, 300)))
      assert(answers(source.rows)(6) == Seq(6L, 1L, 1L, 7, 3.5, 6L))
      assert(!answers(source.rows).keySet.exists(Set(3L, 4L, 5L)))
    }
  }

  private def withCounted(first: Seq[Event])(body: Source => Unit): Unit =
    streaming(Setting -> "count")(inDirectory { checkpoint =>
      val source = new Source("15 seconds", checkpoint)
      running = source.start(query)
      source.add(first)
      body(source)
      source.stop()
    })

  private var running: StreamingQuery = _

  private def dropped: Long =
    running.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum

  private def refusal(of: DataFrame => DataFrame): String =
    streaming(Setting -> "count")(inDirectory { checkpoint =>
      intercept[AnalysisException](new Source("15 seconds", checkpoint).start(of)).getMessage
    })

  for (
    (over, words) <- Seq(
      "sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING)" -> "move the windows",
      "sum(x) OVER (PARTITION BY k ORDER BY ts)" -> "RANGE BETWEEN INTERVAL",
      "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 1 MONTH PRECEDING " +
        "AND CURRENT ROW)" -> "RANGE BETWEEN INTERVAL",
      "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 9 SECONDS PRECEDING " +
        "AND INTERVAL 1 SECOND PRECEDING)" -> "RANGE BETWEEN INTERVAL",
      "first(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING)" ->
        "out of their order; write sums",
      "median(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING)" ->
        "out of their order; write sums",
      "count(DISTINCT x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING)" ->
        "out of their order; write sums",
      "rank() OVER (PARTITION BY k ORDER BY ts)" -> "RANGE BETWEEN INTERVAL"
    )
  ) test(s"refused: $over") {
    val said = refusal(sql(s"SELECT id, $over AS a FROM events"))
    Seq(words, "spark.sash.stream.lateRows=count", "set it to drop").foreach { w =>
      assert(said.contains(w), said)
    }
  }

  for (
    (name, below) <- Seq(
      "windows" -> "SELECT *, count(*) OVER (PARTITION BY s ORDER BY ts ROWS 1 PRECEDING) AS n",
      "DISTINCT" -> "SELECT DISTINCT *"
    )
  ) test(s"refused: above $name") {
    val above = over("sum(x)", 9)
    val said = refusal(sql(s"SELECT id, $above AS a FROM ($below FROM events)"))
    Seq(s"$Setting=count and sum(x)", "above another operator", "set it to drop").foreach { w =>
      assert(said.contains(w), said)
    }
  }

  test("a checkpoint keeps the setting") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("15 seconds", checkpoint)
      source.start(query)
      source.add(Seq(at(1, 0)))
      source.stop()
      withSettings(Setting -> "count")(source.start(query))
      val error = intercept[Exception](source.add(Seq(at(2, 1))))
      assert(error.getMessage.contains("late rows"))
    })
  }

  private val Setting = "spark.sash.stream.lateRows"
}
