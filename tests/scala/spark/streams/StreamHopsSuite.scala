package io.sash.spark.streams

import java.io.File

import org.apache.spark.sql.{AnalysisException, DataFrame, Encoders}
import org.apache.spark.sql.catalyst.plans.logical.Generate
import org.apache.spark.sql.functions.{col, count, sum, window, window_time}
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import io.sash.spark.SashConf

/** Hops on streams: Spark's rows, batch by batch. */
class StreamHopsSuite extends StreamSuite {

  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 5, size = 60, jitterSeconds = 40, keys = 3)

  private def check(
      query: DataFrame => DataFrame,
      mode: OutputMode = OutputMode.Append(),
      seed: Long = 1,
      delay: String = "15 seconds"
  ): Unit = streaming()(checkHops(batches(seed), delay, mode)(query))

  private def hops(grouping: String, aggregates: String*)(rows: DataFrame): DataFrame = {
    val key = if (grouping.startsWith("k")) "coalesce(k, 7)" else "0"
    sql(
      s"SELECT unix_micros(window.start) * 8 + $key AS id, window, ${aggregates.zipWithIndex.map { case (a, i) => s"$a AS a$i" }.mkString(", ")}" +
        s" FROM events GROUP BY $grouping"
    )(rows)
  }

  private val some =
    Seq("k", "count(*)", "sum(x)", "max(d)", "min(s)", "sum(x) FILTER (WHERE d > 50)")

  for {
    mode <- Seq(OutputMode.Append(), OutputMode.Update())
    (window, name) <- Seq(
      "window(ts, '10 seconds', '5 seconds')" -> "two panes",
      "window(ts, '40 seconds', '1 second')" -> "many panes",
      "window(ts, '25 seconds', '10 seconds')" -> "a size that is no multiple of the slide",
      "window(ts, '30 seconds', '7 seconds', '3 seconds')" -> "an own start",
      "window(ts, '2 minutes', '1 second')" -> "panes beyond a node",
      "window(ts, '3 seconds', '200 milliseconds')" -> "gaps between windows"
    )
  } test(s"a stream's hops are Spark's: $name, $mode") {
    check(hops(s"k, $window", some: _*), mode)
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"a stream's hops are Spark's: no key, expressions, HAVING, $mode") {
      check(
        { rows =>
          hops(
            "window(ts, '20 seconds', '5 seconds')",
            "avg(x + 1) * 2",
            "window.end - window.start",
            "max(ts)",
            "count(x)"
          )(rows).where("a3 > 3").select("id", "window.start", "a0", "a1", "a2")
        },
        mode,
        seed = 2
      )
    }

  test("no delay, and one beyond all rows") {
    check(hops("k, window(ts, '20 seconds', '5 seconds')", some: _*), delay = "0 seconds")
    check(hops("k, window(ts, '20 seconds', '5 seconds')", some: _*), delay = "1 hour")
  }

  /** A checkpoint that was begun with or without Sash's hops goes on, on one Generate. */
  private def checkGenerated(mode: OutputMode, begunWith: Boolean): Unit =
    inDirectory { checkpoint =>
      val source = new Source("15 seconds", checkpoint, mode, isOurs = false)
      withSettings(SashConf.HopsEnabled.key -> begunWith.toString)(source.start(many))
      source.add(batches(3).head)
      source.stop()
      source.start(many)
      source.add(batches(3)(1))
      val generators = source.execution.analyzed.collect { case g: Generate =>
        g.generator.nodeName
      }
      assert(generators == Seq("WindowsOf"))
      source.stop()
    }

  private val many = hops("k, window(ts, '2 minutes', '1 second')", some: _*) _

  test("many hops in complete mode: Spark answers them, of the windows of each row") {
    streaming()(checkHops(batches(3), mode = OutputMode.Complete(), isOurs = false)(many))
    streaming()(checkGenerated(OutputMode.Complete(), begunWith = true))
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update(), OutputMode.Complete()))
    test(s"a checkpoint of many hops of Spark's goes on with Sash, $mode") {
      val ours = mode != OutputMode.Complete()
      val later = Seq("spark.sash.hops.enabled" -> "true")
      streaming()(checkHops(batches(4), mode = mode, isOurs = ours, later = later)(many))
      streaming()(checkGenerated(mode, begunWith = false))
    }

  test("hops of hops go on from a checkpoint with a new DataFrame") {
    streaming() {
      inDirectory { directory =>
        for (run <- 0 to 2) {
          val events =
            Seq(StreamSuite.at(run, 1000 + run * 100), StreamSuite.at(run, 1003 + run * 100))
          spark.createDataFrame(events).write.mode("append").parquet(s"$directory/in")
          val query = spark.readStream
            .schema(Encoders.product[Event].schema)
            .parquet(s"$directory/in")
            .withWatermark("ts", "15 seconds")
            .groupBy(col("k"), window(col("ts"), "25 seconds", "10 seconds"))
            .agg(sum("x").as("a"))
            .groupBy(col("k"), window(col("window"), "40 seconds", "20 seconds"))
            .agg(sum("a"))
            .writeStream
            .option("checkpointLocation", s"$directory/checkpoint")
            .trigger(Trigger.AvailableNow())
            .format("noop")
            .start()
          query.awaitTermination()
        }
        for (operator <- 0 to 1)
          assert(new File(s"$directory/checkpoint/state/$operator/_sash/windows").exists)
      }
    }
  }

  test("in update mode an aggregate above hops is refused as Spark refuses it") {
    def error(enabled: Boolean): String =
      withSettings(SashConf.HopsEnabled.key -> enabled.toString) {
        streaming() {
          inDirectory { checkpoint =>
            val source = new Source("15 seconds", checkpoint, OutputMode.Update(), isOurs = false)
            intercept[AnalysisException] {
              source.start { rows =>
                rows
                  .groupBy(window(col("ts"), "20 seconds", "10 seconds"))
                  .agg(count("x").as("c"))
                  .groupBy(window(window_time(col("window")), "1 minute"))
                  .agg(sum("c").as("id"))
              }
            }.getMessage.takeWhile(_ != ';')
          }
        }
      }
    assert(error(enabled = true) == error(enabled = false))
  }
}
