package io.sash.spark.streams.state

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.tags.Slow

import io.sash.spark.StreamSuite

/** With a time to live, a key that comes again after a longer pause begins anew. */
@Slow
class TimeToLiveSuite extends StreamSuite {
  import StreamSuite._

  private val Live = "spark.sash.stream.keyTimeToLive"
  private val Seconds = 9

  /** The stream's query; in batch each key is divided where its rows pause. */
  private def query(call: String)(rows: DataFrame): DataFrame = {
    rows.createOrReplaceTempView("events")
    val pauses = "unix_micros(ts) - unix_micros(lag(ts) OVER (PARTITION BY k ORDER BY ts, id))"
    val parts =
      s"""(SELECT *, sum(IF(a > $Seconds * 1000000, 1, 0)) OVER (PARTITION BY k ORDER BY ts, id
         |  ROWS UNBOUNDED PRECEDING) AS part FROM (SELECT *, $pauses AS a FROM events))""".stripMargin
    val (keys, from) = if (rows.isStreaming) ("k", "events") else ("k, part", parts)
    spark.sql(s"SELECT id, ${call.replace("BY k", s"BY $keys")} AS b FROM $from")
  }

  private def someBatches(seed: Long) =
    batches(seed, count = 8, size = 14, jitterSeconds = 6, keys = 3)

  private val W = "OVER (PARTITION BY k ORDER BY ts, id"

  private val calls = Seq(
    "ROWS" -> s"sum(x) $W ROWS 20 PRECEDING)",
    "ROWS, maximum" -> s"max(d) $W ROWS 40 PRECEDING)",
    "ROWS before" -> s"collect_list(id) $W ROWS BETWEEN 9 PRECEDING AND 3 PRECEDING)",
    "lag" -> s"lag(x, 3) $W)",
    "row_number" -> s"row_number() $W)",
    "a running total" -> s"sum(x) $W ROWS UNBOUNDED PRECEDING)",
    "a median" -> s"median(x) $W ROWS 30 PRECEDING)",
    "RANGE" -> "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 30 SECONDS PRECEDING)",
    "GROUPS" -> "count(*) OVER (PARTITION BY k, groups_window(5) ORDER BY ts)",
    "delta" -> "count(*) OVER (PARTITION BY k, delta_window(d, 90) ORDER BY ts)"
  )

  for (((name, call), i) <- calls.zipWithIndex) {
    test(s"$name in append mode", each(5): _*) {
      streaming(Live -> s"${Seconds}s")(
        checkStream(someBatches(i), delaySeconds = 5, restartBefore = Set(4, 7))(query(call))
      )
    }
    if (i % 3 == 0) test(s"$name in update mode", each(4): _*) {
      streaming()(
        withSettings(Live -> s"${Seconds}s")(
          SmallChunks(
            checkUpdates(someBatches(100 + i), delaySeconds = 5, restartBefore = Set(5))(
              query(call)
            )
          )
        )
      )
    }
  }

  test("the pauses of these rows are longer and shorter than the time to live") {
    val call = s"row_number() $W)"
    val rows = spark.createDataFrame(someBatches(0).flatten.filter(_.ts.nonEmpty))
    val begun = query(call)(rows).where("b = 1").count()
    val keys = rows.select("k").distinct().count()
    assert(begun > keys + 2 && begun < rows.count() / 2, s"$begun of ${rows.count()}")
  }

  test("keys leave, and come again") {
    streaming(Live -> "2min")(inDirectory { checkpoint =>
      val source = new Source("1 second", checkpoint)
      val started = source.start(sql(s"SELECT id, row_number() $W) AS n FROM events"))
      val sizes = (0 until 14).map { b =>
        source.add((0 until 20).map(i => at(b * 100L + i, b * 60.0, k = b * 100 + i)))
        rowsInState(started)
      }
      assert(sizes.last <= sizes(6) + 20, sizes)
      source.add(Seq(at(9000, 20 * 60, k = 0), at(9001, 20 * 60 + 1, k = 0)))
      source.add(Seq(at(9999, 40 * 60, k = 77)))
      source.stop()
      val again =
        source.rows.filter(r => r.getLong(0) >= 9000).map(r => r.getLong(0) -> r.getInt(1))
      assert(again.toMap == Map(9000L -> 1, 9001L -> 2))
    })
  }

  test("a checkpoint keeps its time to live") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("1 second", checkpoint)
      val query = sql(s"SELECT id, row_number() $W) AS n FROM events") _
      withSettings(Live -> "2min")(source.start(query))
      source.add(Seq(at(1, 0)))
      source.stop()
      for ((time, remedy) <- Seq(None -> s"set $Live to 120000ms", Some("1h") -> "120000ms")) {
        withSettings(time.map(Live -> _).toSeq: _*)(source.start(query))
        val error = intercept[Exception](source.add(Seq(at(2, 1))))
        assert(error.getMessage.contains(remedy), error)
      }
    })
  }

  test("a pause among pending rows removes no key yet") {
    streaming(Live -> "30s")(inDirectory { checkpoint =>
      val source = new Source("200 seconds", checkpoint, OutputMode.Update())
      val started = source.start(sql(s"SELECT id, row_number() $W) AS n FROM events"))
      def removed = started.recentProgress
        .map(_.observedMetrics.get("sash.0"))
        .filter(_ != null)
        .map(_.getAs[Long]("keysRemoved"))
        .sum
      source.add(Seq(0, 40, 80, 120).map(s => at(s.toLong, s.toDouble)))
      (121 to 124).foreach(s => source.add(Seq(at(s.toLong, s.toDouble))))
      assert(removed == 0)
      source.add(Seq(at(1000, 1000), at(1001, 1001)))
      source.add(Seq(at(1300, 1002)))
      source.stop()
      assert(removed >= 3)
    })
  }

  test("frames that look ahead are refused") {
    streaming(Live -> "2min")(inDirectory { checkpoint =>
      val source = new Source("1 second", checkpoint)
      val error = intercept[Exception](
        source.start(sql(s"SELECT id, lead(x) $W) AS n FROM events"))
      )
      assert(error.getMessage.contains(s"with $Live no frame may look ahead"), error)
    })
  }
}
