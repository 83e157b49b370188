package io.sash.spark.streams.plan

import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}

/** Queries in which operators of ours are alike, or beside Spark's own of another kind. */
@Slow
class StreamTwinsSuite extends StreamSuite {
  import StreamSuite.{at, micros, onTime}

  // the last row advances the watermark, and a join leaves out those without a key below it
  private val batches = StreamSuite
    .batches(11, count = 3, size = 60, jitterSeconds = 25, keys = 3)
    .zipWithIndex
    .map { case (batch, i) => if (i < 3) batch else batch.map(_.copy(k = Some(0))) }

  private val hops =
    "SELECT window, k, count(*) AS c, sum(x) AS a FROM events GROUP BY k, window(ts, '10 seconds', '5 seconds')"

  private val common =
    """WITH c AS (
      |  SELECT id, k, ts, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a FROM events)
      |""".stripMargin

  private val sorted = "WITH c AS (SELECT /*+ MERGE(s) */ e.* FROM events e JOIN s ON e.k = s.j) "

  private val twice =
    "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a " +
      "FROM c UNION ALL SELECT -id, max(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 2 PRECEDING) FROM c"

  private val joined =
    "SELECT a.id, a, b FROM (SELECT id, ts, sum(x) OVER (PARTITION BY k ORDER BY " +
      "ts, id ROWS 4 PRECEDING) AS a FROM events) a JOIN (SELECT id, ts, max(x) OVER (PARTITION BY k " +
      "ORDER BY ts, id ROWS 2 PRECEDING) AS b FROM events) b ON a.id = b.id AND a.ts = b.ts"

  for (
    (name, query, exchanged) <- Seq(
      (
        "common table expression",
        common + "SELECT id, a FROM c UNION ALL SELECT -id, -a FROM c WHERE id % 3 > 0",
        false
      ),
      (
        "common table expression, another OVER",
        common + "SELECT id, a FROM c UNION ALL " +
          "SELECT -id, max(a) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) FROM c",
        false
      ),
      ("repartition", "WITH c AS (SELECT * FROM events) " + twice, true),
      ("repartition, joined", joined, true),
      ("join with a table", sorted + twice, false)
    )
  )
    test(s"what is read twice is two operators: $name", each(5): _*) {
      spark.range(3).selectExpr("id AS j").createOrReplaceTempView("s")
      val asked =
        (events: DataFrame) => sql(query)(if (exchanged) events.repartition(3) else events)
      val batches =
        (1 to 3).map(b => (0 until 40).map(i => at(b * 40L + i, b * 100 + i, k = i % 3)))
      withSource("1 second") { source =>
        val counts = run(source, batches, restartBefore = Set(2))(asked)
        val answers = source.rows.map(_.toSeq).toSet
        val passed = onTime(batches, delaySeconds = 1)._2
        val expected = asked(spark.createDataFrame(batches.flatten))
          .collect()
          .map(_.toSeq)
          .toSet
        val ofLast = batches.flatten.filter(micros(_) > passed * 1000).map(_.id).toSet
        assert(answers == expected.filterNot(r => ofLast(r.head.asInstanceOf[Long].abs)))
        assert(counts.last == answers.size && answers.size > (if (query == joined) 110 else 150))
      }
    }

  test(
    "what is read twice is two operators: files, of which each batch has columns of its own",
    Thorough
  ) {
    streaming()(inDirectory { directory =>
      val batches =
        (1 to 5).map(b => (0 until 9).map(i => at(b * 9L + i, b * 100 + i, k = i % 3)))
      batches.foreach { batch =>
        spark.createDataFrame(batch).coalesce(1).write.mode("append").parquet(s"$directory/in")
        val rows = spark.readStream
          .schema(Encoders.product[Event].schema)
          .parquet(s"$directory/in")
          .withWatermark("ts", "1 second")
          .repartition(3)
        sql("WITH c AS (SELECT * FROM events) " + twice)(rows).writeStream
          .option("checkpointLocation", s"$directory/checkpoint")
          .trigger(Trigger.AvailableNow())
          .format("parquet")
          .start(s"$directory/out")
          .awaitTermination()
      }
      val ids = spark.read.parquet(s"$directory/out").collect().map(_.getLong(0)).toSeq
      val passed = batches.flatten.map(_.id).filter(_ < 45 + 8)
      assert(ids.sorted == (passed ++ passed.map(-_)).sorted)
    })
  }

  test("operators on both sides of a semi join are refused") {
    val join =
      common + "SELECT id, a FROM c LEFT SEMI JOIN (SELECT id AS j, ts AS t FROM c) ON id = j AND ts = t"
    withSource("1 second") { source =>
      val error = intercept[Exception](source.start(sql(join)))
      assert(error.getMessage.contains("both sides of the semi join on ((id = j) AND (ts = t))"))
      assert(error.getMessage.contains("sum(") && error.getMessage.contains("OVER (PARTITION BY"))
    }
  }

  test("a common table expression that is read twice is refused where two operators are") {
    val query = sql(common + "SELECT id, a FROM c UNION ALL SELECT -id, -a FROM c") _
    streaming()(inDirectory { c =>
      val source = new Source("1 second", c, OutputMode.Update())
      val error = intercept[Exception](source.start(query))
      assert(error.getMessage.contains("beside another operator with state"))
    })
    val drawn = sql(
      common.replace("SELECT id", "SELECT rand() AS r, id") +
        "SELECT id, a, r FROM c UNION ALL SELECT -id, -a, r FROM c"
    ) _
    withSource("1 second") { source =>
      val error = intercept[Exception](source.start(drawn))
      val message = error.getMessage
      assert(
        message.contains("beside the common table expression c, which") && message.contains(
          "(rand("
        )
      )
    }
  }

  test("OVER joined with itself, whose rows Spark could take from one exchange") {
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2)) { rows =>
        val over = sql(
          "SELECT id, ts, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a FROM events"
        )(rows)
        over
          .as("u")
          .join(over.as("v"), expr("u.id = v.id AND u.ts = v.ts"))
          .selectExpr("u.id", "u.a AS b", "v.a AS c")
      }
    }
  }

  /** What a stream without late rows gives, from run to run. */
  private def answers(isOurs: Boolean)(query: DataFrame => DataFrame): Seq[String] =
    withSettings("spark.sash.hops.enabled" -> isOurs.toString)(inDirectory { checkpoint =>
      val source = new Source("60 seconds", checkpoint, isOurs = isOurs)
      run(source, batches, restartBefore = Set(2))(query)
      source.rows.map(_.toString).sorted
    })

  test("hops joined with themselves are those of the batch") {
    streaming() { // where Spark's own lose rows
      val query = (rows: DataFrame) => {
        val all = sql(hops)(rows)
        all
          .as("u")
          .join(all.as("v"), expr("u.k = v.k AND u.window = v.window"))
          .selectExpr("u.window", "u.k", "u.c", "v.a")
      }
      val over = spark.createDataFrame(batches.init.flatten)
      assert(answers(isOurs = true)(query) == query(over).collect().map(_.toString).sorted.toSeq)
    }
  }

  test("hops below an aggregation of Spark's are Spark's, restarts included", Thorough) {
    streaming() {
      val query = sql(
        s"""SELECT window(window_time(window), '1 minute') AS w, sum(c) AS c, max(a) AS a FROM ($hops)
           |  GROUP BY window(window_time(window), '1 minute')""".stripMargin
      ) _
      val ours = answers(isOurs = true)(query)
      assert(ours == answers(isOurs = false)(query) && ours.nonEmpty)
    }
  }
}
