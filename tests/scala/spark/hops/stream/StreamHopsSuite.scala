package io.sash.spark.hops.stream

import java.io.File
import java.nio.file.{Files, Path}

import scala.reflect.io.Directory

import org.apache.spark.sql.{AnalysisException, DataFrame, Encoders}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, TransformWithState}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.{OutputMode, StreamingQueryException, Trigger}

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, Event, Explain, SashLog, StreamSuite, Thorough}
import io.sash.spark.base.SashConf
import io.sash.spark.streams.task.BucketProcessor

/** Hops on streams: Spark's rows, batch by batch. */
@Slow
class StreamHopsSuite extends StreamSuite {

  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 4, size = 60, jitterSeconds = 40, keys = 3)

  private def check(
      query: DataFrame => DataFrame,
      mode: OutputMode = OutputMode.Append(),
      seed: Long = 1,
      delay: String = "15 seconds",
      alike: Seq[DataFrame => DataFrame] = Nil
  ): Unit = streaming()(checkHops(batches(seed), delay, mode, alike = alike)(query))

  private def hops(grouping: String, aggregates: String*)(rows: DataFrame): DataFrame = {
    val key = if (grouping.startsWith("k")) "coalesce(k, 7)" else "0"
    sql(
      s"SELECT unix_micros(window.start) * 8 + $key AS id, window, ${aggregates.zipWithIndex.map { case (a, i) => s"$a AS a$i" }.mkString(", ")}" +
        s" FROM events GROUP BY $grouping"
    )(rows)
  }

  /** The same over windows that are made below the aggregate, and conditions on them and others. */
  private def below(window: String, aggregates: Seq[String], where: String = "true")(
      rows: DataFrame
  ): DataFrame = sql(
    s"SELECT unix_micros(v.start) * 8 + coalesce(k, 7) AS id, v AS window, ${aggregates.zipWithIndex
        .map { case (a, i) => s"$a AS a$i" }
        .mkString(", ")} FROM (SELECT w AS v, * FROM (SELECT *, $window AS w FROM events)) WHERE $where GROUP BY k, v"
  )(rows)

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
  } test(s"a stream's hops are Spark's: $name, $mode", each(8): _*) {
    check(hops(s"k, $window", some: _*), mode, alike = Seq(below(window, some)))
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"conditions between windows and their aggregate, $mode", each(2): _*) {
      val window = "window(ts, '25 seconds', '10 seconds')"
      val where =
        "second(v.start) % 20 = 0 AND x % 3 <> 1 AND v.end <> timestamp_seconds(1600001035 + k)"
      check(below(window, some, where), mode)
    }

  for (
    (what, query, why) <- Seq[(String, DataFrame => DataFrame, String)](
      (
        "a generator",
        _.withColumn("w", window(col("ts"), "20 seconds", "5 seconds"))
          .withColumn("y", explode(array(lit(1), lit(2))))
          .groupBy("w")
          .agg(sum("y").as("id")),
        "a generator such as explode lies between the windows and the aggregation"
      ),
      (
        "another use of the window",
        _.withColumn("w", window(col("ts"), "20 seconds", "5 seconds"))
          .groupBy("w")
          .agg(max(expr("w.end - ts")).as("id")),
        "reads the window"
      ),
      (
        "a field of the window, which has no watermark",
        _.withColumn("w", window(col("ts"), "20 seconds", "5 seconds"))
          .groupBy("w.start")
          .agg(count("x").as("id")),
        "without a watermark"
      )
    )
  ) test(s"Spark keeps hops, and EXPLAIN and the log say why: $what", each(3): _*) {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("0 seconds", checkpoint, OutputMode.Update(), isOurs = false)
      def run(): Unit = {
        source.start(query)
        Seq(1000, 1010, 1020).foreach(s => source.add(Seq(StreamSuite.at(s, s))))
      }
      val said = SashLog.logged(run(), by = classOf[StreamHops].getName)
      val plan = source.execution.executedPlan
      source.stop()
      assert(said.count(_.contains(why)) == 1, said)
      assert(
        new Explain()
          .generateExtendedInfo(plan)
          .linesIterator
          .count(l => l.startsWith("hops left to Spark: ") && l.contains(why)) == 1
      )
    })
  }

  test("a checkpoint of Spark's hops below the aggregate stays Spark's") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("0 seconds", checkpoint, isOurs = false)
      val query = below("window(ts, '20 seconds', '10 seconds')", Seq("count(*)")) _
      withSettings(SashConf.HopsEnabled.key -> "false")(source.start(query))
      source.add(Seq(StreamSuite.at(1, 1000)))
      source.stop()
      source.start(query)
      Seq(1001, 1100, 1200).foreach(s => source.add(Seq(StreamSuite.at(s, s))))
      source.stop()
      assert(source.rows.map(_.getLong(2)).sum == 2 * 3)
    })
  }

  test("directories that a killed first batch has left are not taken for Spark's state") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("0 seconds", checkpoint) // it asserts that Sash's operator runs
      val query = below("window(ts, '20 seconds', '10 seconds')", Seq("count(*)")) _
      source.start(query)
      source.failNext()
      intercept[StreamingQueryException](source.add(Seq(StreamSuite.at(1, 1000))))
      // as if the batch had been killed when it had made its directories
      Directory(new File(checkpoint, "state")).deepFiles.foreach(_.delete())
      Directory(new File(checkpoint, "state/0/_sash")).deleteRecursively()
      source.start(query)
      Seq(1001, 1100, 1200).foreach(s => source.add(Seq(StreamSuite.at(s, s))))
      source.stop()
      assert(source.rows.map(_.getLong(2)).sum == 2 * 3)
    })
  }

  for (mode <- Seq(OutputMode.Update(), OutputMode.Append()))
    test(s"a stream's hops are Spark's: no key, expressions, HAVING, $mode", each(2): _*) {
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

  for (delay <- Seq("0 seconds", "1 hour")) // none, and one beyond all rows
    test(s"a delay of $delay", each(2): _*) {
      check(hops("k, window(ts, '20 seconds', '5 seconds')", some: _*), delay = delay)
    }

  test("another number of shuffle partitions is that of the checkpoint", Thorough) {
    streaming() {
      checkHops(batches(9), later = Seq("spark.sql.shuffle.partitions" -> "5"))(
        hops("k, window(ts, '25 seconds', '10 seconds')", some: _*)
      )
    }
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

  test("many hops in complete mode: Spark has them, of the windows of each row") {
    streaming()(checkGenerated(OutputMode.Complete(), begunWith = true))
  }

  test("many hops in complete mode: the answers are Spark's", Thorough) {
    streaming()(checkHops(batches(3), mode = OutputMode.Complete(), isOurs = false)(many))
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update(), OutputMode.Complete()))
    test(s"a checkpoint of many hops of Spark's goes on with Sash, $mode", each(3): _*) {
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

  test("a condition on keys goes below the watermark, which rows of other keys do not advance") {
    def rows(isOurs: Boolean)(condition: String) =
      withSettings(SashConf.HopsEnabled.key -> isOurs.toString) {
        streaming() {
          inDirectory { checkpoint =>
            val source = new Source("0 seconds", checkpoint, isOurs = isOurs)
            source.start { rows =>
              hops("k, window(ts, '20 seconds', '10 seconds')", "k", "count(*)")(rows)
                .where(condition)
            }
            source.add(Seq(StreamSuite.at(1, 1000), StreamSuite.at(2, 2000, k = 2)))
            source.add(Seq(StreamSuite.at(3, 1001), StreamSuite.at(4, 1100)))
            source.stop()
            source.rows.map(_.toSeq).sortBy(_.toString)
          }
        }
      }
    val conditions = Seq("a0 + 1 = 2 AND a1 > 0", "a0 = 1", "a0 IN (1, 3) AND rand(1) < 2")
    for (condition <- Thorough.some(conditions)) {
      val ours = rows(isOurs = true)(condition)
      assert(ours == rows(isOurs = false)(condition))
      assert(ours.map(_.last).contains(2L), "vacuous: late rows were dropped")
    }
  }

  for {
    mode <- Seq(OutputMode.Append(), OutputMode.Update())
    condition <- Seq(
      "window.start >= timestamp_seconds(1600001000)",
      "unix_seconds(window.start) >= 1600001000 AND a1 > 0"
    )
  } test(s"rows of no wanted window do not fail, $mode: $condition", each(2): _*) {
    streaming("spark.sql.ansi.enabled" -> "true")(checkHops(batches(5), mode = mode) { rows =>
      val part = "sum(100 div IF(ts < timestamp_seconds(1600001000), 0, 1))"
      hops("k, window(ts, '25 seconds', '10 seconds')", part, "count(*)")(rows).where(condition)
    })
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"a FILTER guards an argument, $mode", each(2): _*) {
      streaming("spark.sql.ansi.enabled" -> "true")(checkHops(batches(8), mode = mode) { rows =>
        val guarded = Seq("sum(100 div (x % 3))", "percentile(100 div (x % 3), 0.5)")
          .map(c => s"$c FILTER (WHERE x % 3 <> 0)")
        hops("k, window(ts, '20 seconds', '5 seconds')", guarded :+ "count(*)": _*)(rows)
      })
    }

  test("an event time is grouped by beside its windows: Spark refuses it") {
    val errors = Seq(true, false).map { on =>
      withSettings(SashConf.HopsEnabled.key -> on.toString)(streaming()(inDirectory { at =>
        val source = new Source("15 seconds", at, isOurs = false)
        source.start(
          _.groupBy(col("ts"), window(col("ts"), "20 seconds", "10 seconds"))
            .agg(count("x").as("id"))
        )
        val error =
          intercept[StreamingQueryException](source.add(Seq(StreamSuite.at(1, 1000))))
        ErrorCondition.of(error.getCause)
      }))
    }
    assert(errors.distinct.length == 1, errors)
  }

  test("answers that nobody reads are not kept, and cannot overflow") {
    streaming("spark.sql.ansi.enabled" -> "true") {
      val unread = s"sum(x + ${Long.MaxValue - 10})"
      checkHops(batches(6)) { rows =>
        hops("k, window(ts, '20 seconds', '5 seconds')", unread, "count(*)")(rows)
          .select("id", "window", "a1")
          .where("a1 > 0")
      }
      inDirectory { checkpoint =>
        val source = new Source("15 seconds", checkpoint)
        source.start(rows =>
          hops("k, window(ts, '20 seconds', '5 seconds')", "sum(x)", "max(d)")(rows)
            .select("id", "window", "a1")
        )
        source.add(batches(6).head)
        val texts = source.execution.analyzed.collect { case t: TransformWithState =>
          (t.statefulProcessor: Any).asInstanceOf[BucketProcessor].text
        }
        source.stop()
        assert(texts.exists(t => t.contains("max(") && !t.contains("sum(")), texts)
      }
    }
  }

  for (
    aggregate <- Seq(
      "percentile_approx(x, 0.5)",
      "histogram_numeric(x, 4)",
      "hll_sketch_estimate(hll_sketch_agg(x))",
      "approx_top_k(x, 2)"
    )
  ) test(s"approximations are Spark's own: $aggregate", each(4): _*) {
    streaming()(checkHops(batches(7), isOurs = false) { rows =>
      hops("k, window(ts, '20 seconds', '5 seconds')", aggregate)(rows)
    })
  }

  test("approx_count_distinct is the same by panes", Thorough) {
    check(hops("k, window(ts, '20 seconds', '5 seconds')", "approx_count_distinct(x)"))
  }

  for {
    failed <- Seq(true, false)
    switch <- Seq(SashConf.HopsEnabled.key, SashConf.Enabled.key, "no jar")
  } test(s"a first batch failed with hops $failed, others came without: $switch", each(6): _*) {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("0 seconds", checkpoint, isOurs = false)
      val query = hops("k, window(ts, '20 seconds', '10 seconds')", "count(*)") _
      def run(hops: Boolean)(second: Int): Unit = {
        val key = if (switch == "no jar") SashConf.Enabled.key else switch
        withSettings(key -> hops.toString)(source.start(query))
        try source.add(Seq(StreamSuite.at(second, second)))
        finally source.stop()
      }
      withSettings(SashConf.HopsEnabled.key -> failed.toString) {
        source.failNext()
        source.start(query)
        intercept[StreamingQueryException](source.add(Seq(StreamSuite.at(1, 1000))))
      }
      val ours = Path.of(checkpoint, "state", "0", "_sash", "windows")
      val text = Option.when(Files.exists(ours))(Files.readString(ours))
      assert(text.nonEmpty == failed)
      run(hops = false)(1001)
      if (switch == "no jar") text.foreach { t =>
        Files.createDirectories(ours.getParent)
        Files.writeString(ours, t)
      }
      if (switch != "no jar") run(hops = false)(1002)
      Seq(1003, 1100, 1200).foreach(run(hops = true))
      val counted = source.rows.map(_.getLong(2)).sum
      assert(counted == 2 * (if (switch == "no jar") 4 else 5))
    })
  }
}
