package io.sash.spark.streams.plan

import java.sql.Timestamp

import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.base.SashConf

/** Streams under unusual settings, and those that change from run to run. */
@Slow
class StreamSettingsSuite extends StreamSuite {
  import StreamSuite.at

  private val batches =
    StreamSuite.batches(11, count = 4, size = 60, jitterSeconds = 25, keys = 3)

  private val over = sql(
    """SELECT id, sum(x + 1) OVER w AS a, avg(CAST(d AS DECIMAL(10, 3))) OVER w AS b,
      |  sum(make_dt_interval(0, x)) OVER w AS c, max(x DIV 3) OVER w AS e FROM events
      |  WINDOW w AS (PARTITION BY k, CAST(d AS INT) % 3 ORDER BY ts, id ROWS 4 PRECEDING)""".stripMargin
  ) _

  private val hops = sql(
    """SELECT unix_micros(window.start) * 8 + coalesce(k, 7) AS id, k, count(*) AS c, sum(x + 1) AS a
      |  FROM events GROUP BY k, window(ts, '25 seconds', '10 seconds')""".stripMargin
  ) _

  private def store(settings: (String, String)*): Seq[(String, String)] =
    settings.map { case (key, value) => s"spark.sql.streaming.stateStore.$key" -> value }

  private val ansi = "spark.sql.ansi.enabled"

  for {
    (name, first, later) <- Seq(
      (
        "other partitions, a store of little memory that is always maintained",
        store(
          "rocksdb.boundedMemoryUsage" -> "true",
          "rocksdb.maxMemoryUsageMB" -> "1",
          "rocksdb.writeBufferSizeMB" -> "1",
          "rocksdb.changelogCheckpointing.enabled" -> "true",
          "minDeltasForSnapshot" -> "1",
          "maintenanceInterval" -> "50ms"
        ) :+ "spark.sql.streaming.minBatchesToRetain" -> "1",
        "spark.sql.shuffle.partitions" -> "5"
      ),
      (
        "the second format of checkpoints",
        store(
          "rocksdb.changelogCheckpointing.enabled" -> "true",
          "checkpointFormatVersion" -> "2"
        ),
        "spark.sql.shuffle.partitions" -> "2"
      ),
      ("ANSI mode left", Nil, ansi -> "false"),
      ("ANSI mode entered", Seq(ansi -> "false"), ansi -> "true")
    )
  } test(s"a restart changes nothing: $name", each(6): _*) {
    streaming(first: _*) {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2, 3), later = Seq(later))(over)
      checkHops(batches, later = Seq(later))(hops)
    }
  }

  for (key <- Seq(SashConf.Enabled.key, SashConf.HopsEnabled.key))
    test(s"Spark refuses hops of Sash's, which go on then: $key") {
      withSource("15 seconds") { source =>
        source.start(hops)
        source.add(batches.head)
        source.stop()
        val error = intercept[Exception](withSettings(key -> "false") {
          source.start(hops)
          source.add(batches(1))
        })
        assert(error.getMessage.contains("OPERATOR_NOT_MATCH_IN_STATE_METADATA"))
        source.start(hops)
        source.add(batches(2))
        source.stop()
        assert(source.rows.nonEmpty)
      }
    }

  test("Spark's reader of states reads all variables") {
    val many = StreamSuite.batches(11, count = 4, size = 400, jitterSeconds = 25, keys = 1)
    val long = sql(
      "SELECT sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 99 PRECEDING) AS a FROM events"
    ) _
    // in update mode a key has pending rows in chunks, and a start for each of them
    val waits = Seq(OutputMode.Append() -> Set("P"), OutputMode.Update() -> Set("W", "C", "S"))
    for ((mode, waiting) <- waits)
      streaming()(inDirectory { checkpoint =>
        run(new Source("15 seconds", checkpoint, mode), many.init, Set.empty)(long)
        def read(variable: String) = spark.read
          .format("statestore")
          .option("stateVarName", variable)
          .load(checkpoint)
        assert(read("head").count() > 0)
        val kinds =
          read("rest").selectExpr("string(substring(user_map_key.value, 1, 1))").distinct()
        assert(kinds.collect().map(_.getString(0)).toSet == Set("B", "N") ++ waiting)
      })
  }

  test("no row, no time, no key") {
    for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
      streaming()(inDirectory { checkpoint =>
        val source = new Source("1 second", checkpoint, mode)
        source.start(over)
        source.stop()
        source.start(over)
        source.add(Nil)
        source.add((1 to 3).map(i => at(i, 10).copy(ts = None)))
        assert(source.rows.isEmpty)
        source.add((4 to 6).map(i => at(i, 10).copy(k = None, x = None)))
        source.add(Seq(at(7, 100)))
        source.stop()
        assert(source.rows.map(_.getLong(0)).filter(_ < 7).sorted == Seq(4, 5, 6))
        assert(source.rows.take(3).forall(_.isNullAt(1)))
      })
  }

  test("microseconds at the watermark, which counts milliseconds", Thorough) {
    def micros(id: Long, time: Long): Event = {
      val ts = new Timestamp(1600000000000L + time / 1000)
      ts.setNanos((time % 1000000 * 1000).toInt)
      at(id, 0, x = id.toInt).copy(ts = Some(ts))
    }
    val times = Seq(0L, 1L, 999L, 1000L, 1001L, 999999L, 1000000L, 1000001L, 1001000L)
    val batches = Seq(0, 0, 2, 1, 2).zipWithIndex.map { case (second, b) =>
      times.zipWithIndex.map { case (t, i) => micros(100L * b + i, second * 1000000L + t) }
    } :+ Seq(micros(999, 100000000L))
    val query = sql(
      """SELECT id, ts, count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '0.000001' SECOND PRECEDING) AS a,
        |  sum(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1.000001' SECOND PRECEDING
        |    AND INTERVAL '0.000001' SECOND PRECEDING) AS b FROM events""".stripMargin
    ) _
    streaming() {
      for (delay <- Seq(0, 1)) checkStream(batches, delay, restartBefore = Set(2, 4))(query)
    }
    checkUpdates(batches, delaySeconds = 1, restartBefore = Set(2, 4))(query)
  }
}
