package io.sash.spark.streams.plan

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.OutputMode

import io.sash.spark.{StreamSuite, Thorough}

/** What a query's progress says of the operators with state. */
class StreamMetricsSuite extends StreamSuite {
  import StreamSuite._

  private val batches =
    StreamSuite.batches(5, count = 5, size = 80, jitterSeconds = 40, keys = 3)

  private val over = sql(
    "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a FROM events"
  ) _

  /** The totals of all batches, and the answers. */
  private def totals(mode: OutputMode)(query: DataFrame => DataFrame): (Map[String, Long], Long) =
    inDirectory { checkpoint =>
      val source = new Source("15 seconds", checkpoint, mode)
      val running = source.start(query)
      batches.foreach(source.add)
      val ofBatches = running.recentProgress.toSeq.filterNot(_.observedMetrics.isEmpty)
      assert(ofBatches.map(_.batchId).distinct.length == source.answers.size)
      val metrics = ofBatches.map { p =>
        assert(p.observedMetrics.keySet == java.util.Set.of("sash.0"))
        val row = p.observedMetrics.get("sash.0")
        row.getValuesMap[Long](row.schema.fieldNames.toSeq)
      }
      source.stop()
      val names = metrics.head.keys
      (names.map(n => n -> metrics.map(_(n)).sum).toMap, source.rows.length.toLong)
    }

  private val (inTime, watermark) = onTime(batches, delaySeconds = 15)
  private val withTime = batches.flatten.count(_.ts.nonEmpty)
  private val untimed = batches.flatten.count(_.ts.isEmpty)

  test("append mode: rows, answers, partials and nodes") {
    val (metrics, answers) = streaming()(totals(OutputMode.Append())(over))
    assert(metrics("rowsInTime") == inTime.length)
    assert(metrics("rowsWithoutTime") == untimed && untimed > 0)
    assert(metrics("rowsDropped") == withTime - inTime.length && metrics("rowsDropped") > 0)
    assert(metrics("answers") == answers && metrics("answersCorrected") == 0)
    val passed = inTime.filter(micros(_) <= watermark * 1000).groupBy(_.k).values.map(_.length)
    assert(metrics("partialsEvicted") == passed.map(n => math.max(0, n - 5)).sum)
    assert(metrics("nodesWritten") > 0)
    assert(metrics("nodesRead") > 0 && metrics("nodesRemoved") <= metrics("nodesWritten"))
  }

  test("update mode: answers that rows out of order have changed") {
    val (metrics, answers) = streaming()(totals(OutputMode.Update())(over))
    assert(metrics("rowsInTime") == inTime.length && metrics("answers") == answers)
    assert(metrics("rowsWithoutTime") == untimed)
    assert(metrics("answersCorrected") == answers - inTime.length)
    assert(metrics("answersCorrected") > 0)
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"a partial that is evicted counts once, when its key is dropped, too: $mode") {
      val range = sql(
        "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 30 SECONDS PRECEDING) AS a FROM events"
      ) _
      streaming()(inDirectory { checkpoint =>
        val source = new Source("10 seconds", checkpoint, mode)
        val running = source.start(range)
        val rows = (0 to 120).map(i => at(i.toLong, i, k = i % 5))
        Seq(rows, Seq(at(200, 3720, k = 0)), Seq(at(201, 5520, k = 1))).foreach(source.add)
        val evicted = running.recentProgress
          .filterNot(_.observedMetrics.isEmpty)
          .map(_.observedMetrics.get("sash.0").getAs[Long]("partialsEvicted"))
        source.stop()
        // in append mode the row of 3720 seconds is answered, and then held or evicted
        assert(evicted.sum >= 121 && evicted.sum <= 122, evicted.toSeq)
      })
    }

  test("rows that come after later ones of earlier batches") {
    val rowsAfter = (0 to batches.length).map(i => onTime(batches.take(i), delaySeconds = 15)._1)
    val late = rowsAfter
      .zip(rowsAfter.tail)
      .map { case (before, after) =>
        after.drop(before.length).count(e => before.exists(micros(_) > micros(e)))
      }
      .sum
    assert(late > 0 && late < inTime.length)
    val oneBucket =
      Seq("spark.sash.stream.buckets" -> "1", "spark.sql.shuffle.partitions" -> "1")
    Seq(OutputMode.Append(), OutputMode.Update()).foreach { mode =>
      val (metrics, _) = streaming(oneBucket: _*)(totals(mode)(over))
      assert(metrics("rowsOutOfOrder") == late)
    }
  }

  test("partials of hops that are given up count from the key's first row on", Thorough) {
    val hops = sql(
      "SELECT k, count(*) AS c FROM events GROUP BY k, window(ts, '20 seconds', '10 seconds')"
    ) _
    Seq(OutputMode.Append(), OutputMode.Update()).foreach { mode =>
      streaming()(inDirectory { checkpoint =>
        val source = new Source("30 seconds", checkpoint, mode)
        var running = source.start(hops)
        val found = Seq(0, 1000, 2000).zipWithIndex.flatMap { case (second, i) =>
          if (i == 1) {
            source.stop()
            running = source.start(hops)
          }
          source.add(Seq(at(i.toLong, second)))
          val all = running.recentProgress.filterNot(_.observedMetrics.isEmpty)
          if (i == 0) Nil
          else Seq(all.map(_.observedMetrics.get("sash.0").getAs[Long]("partialsEvicted")).sum)
        }
        source.stop()
        // the panes between the two rows of a key, and one that the window still holds
        assert(found.head <= 100 && found.last > 90 && found.last < 210, found)
      })
    }
  }

  test(
    "partials that have left hops are those from the key's first row on, which may come late"
  ) {
    val hops = sql(
      "SELECT window, k, sum(x) FROM events GROUP BY k, window(ts, '20 seconds', '5 seconds')"
    ) _
    for (seconds <- Seq(Seq(60, 100), Seq(100, 60)))
      withSource("60 seconds") { source =>
        val running = source.start(hops)
        (seconds :+ 1000).zipWithIndex.foreach { case (second, i) =>
          source.add(Seq(at(i.toLong, second, k = i / 2)))
        }
        val evicted = running.recentProgress
          .filterNot(_.observedMetrics.isEmpty)
          .map(_.observedMetrics.get("sash.0").getAs[Long]("partialsEvicted"))
        assert(evicted.sum == 9) // panes of 5 seconds, from 60 to 100
      }
  }

  /** The rows that are late for the first of their two windows, which ends 5 seconds earlier. */
  private val partlyLate = batches.indices.map { i =>
    val (_, watermark) = onTime(batches.take(i), delaySeconds = 15)
    batches(i).flatMap(_.ts).count { ts =>
      val firstEnd = ts.getTime / 5000 * 5000 + 5000
      firstEnd <= watermark && firstEnd + 5000 > watermark
    }
  }.sum

  test("hops") {
    val hops = sql(
      """SELECT window, k, count(*) AS c FROM events GROUP BY k, window(ts, '10 seconds', '5 seconds')"""
    ) _
    val (metrics, answers) = streaming()(totals(OutputMode.Append())(hops))
    assert(metrics("answers") == answers && answers > 0)
    assert(metrics("rowsPartlyLate") == partlyLate && partlyLate > 0)
    val (updates, _) = streaming()(totals(OutputMode.Update())(hops))
    assert(updates("rowsPartlyLate") == partlyLate)
    assert(metrics("rowsInTime") + metrics("rowsDropped") == withTime)
    assert(metrics("partialsEvicted") > 0)
    assert(metrics("rowsOutOfOrder") > 0 && metrics("rowsOutOfOrder") < metrics("rowsInTime"))
  }
}
