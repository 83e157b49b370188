package io.sash.spark.streams

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.OutputMode

/** Streams that are restarted, changed, or have unusual neighbours. */
class StreamChangesSuite extends StreamSuite {

  private def sql(query: String)(rows: DataFrame): DataFrame = {
    rows.createOrReplaceTempView("events")
    spark.sql(query)
  }

  private def at(id: Long, second: Double, k: Int = 1, x: Int = 1, d: Double = 0.0): Event =
    Event(
      id,
      Some(k),
      Some(new Timestamp(1600000000000L + (second * 1000).toLong)),
      Some(x),
      d,
      "s"
    )

  private def updating(delay: String)(body: Source => Unit): Unit =
    streaming()(inDirectory(c => body(new Source(delay, c, OutputMode.Update()))))

  private val batches =
    StreamSuite.batches(11, count = 5, size = 40, jitterSeconds = 25, keys = 3)

  for (
    (name, call) <- Seq(
      "an aggregate" -> "max(current_date()) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)",
      "a predicate" -> ("count(*) OVER (PARTITION BY k, predicate_window(count(x), " +
        "n -> n < 3 AND current_date() > DATE'2020-01-01') ORDER BY ts)"),
      "a mark" -> ("count(*) OVER (PARTITION BY k, punctuation_window(ts > current_timestamp()) ORDER BY ts)")
    )
  ) test(s"now: $name") {
    withSource("1 second") { source =>
      source.start(sql(s"SELECT id, $call AS a FROM events"))
      source.add(Seq(at(1, 10)))
      source.add(Seq(at(2, 100)))
      source.stop()
      assert(source.rows.map(_.getLong(0)) == Seq(1L))
    }
  }

  for (
    (name, call) <- Seq(
      "a mark" -> "count(*) OVER (PARTITION BY k, punctuation_window(x > (SELECT 1)) ORDER BY ts)",
      "lag's default" -> "lag(x, 1, (SELECT 3)) OVER (PARTITION BY k ORDER BY ts)",
      "an aggregate" -> "sum(x + (SELECT 3)) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
    )
  ) test(s"a subquery: $name") {
    sql(s"SELECT id, $call AS a FROM events")(spark.createDataFrame(Seq(at(1, 10)))).collect()
    withSource("1 second") { source =>
      source.start(sql(s"SELECT id, $call AS a FROM events"))
      source.add(Seq(at(1, 10)))
      source.add(Seq(at(2, 100)))
      source.stop()
      assert(source.rows.map(_.getLong(0)) == Seq(1L))
    }
  }

  test("columns of one type the other way around") {
    def query(columns: String) = sql(
      s"""SELECT id, x, y, a FROM (SELECT *, count(*) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a
         |  FROM (SELECT id, ts, k, $columns FROM events))""".stripMargin
    ) _
    withSource("1 minute") { source =>
      source.start(query("x, -x AS y"))
      source.add(Seq(at(1, 10, x = 5)))
      source.stop()
      val refused =
        try {
          source.start(query("-x AS y, x"))
          source.add(Seq(at(2, 1000, x = 5)))
          false
        } catch { case _: Exception => true }
      source.stop()
      if (!refused) assert(source.rows.map(_.toSeq) == Seq(Seq(1L, 5, -5, 1L)))
    }
  }

  test("another table's column of the same name in PARTITION BY") {
    spark.sql("SELECT 1 AS j, 'T' AS s").createOrReplaceTempView("statics")
    def query(by: String) = sql(
      s"""SELECT e.id, sum(x) OVER (PARTITION BY upper($by.s) ORDER BY ts ROWS 2 PRECEDING) AS a
         |FROM events e JOIN statics f ON e.k = f.j""".stripMargin
    ) _
    withSource("1 second") { source =>
      source.start(query("e"))
      source.add(Seq(at(1, 10)))
      source.add(Seq(at(2, 20)))
      source.stop()
      val error = intercept[Exception] {
        source.start(query("f"))
        source.add(Seq(at(3, 1000)))
      }
      assert(error.getMessage.contains("STATE"))
    }
  }

  test("a static side that was empty when the query began") {
    def query(statics: Seq[(String, Int)])(rows: DataFrame) = {
      spark.createDataFrame(statics).toDF("s", "v").createOrReplaceTempView("statics")
      sql(
        """SELECT o.id, o.a, t.v FROM (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a
          |  FROM events) o LEFT JOIN statics t ON o.s = t.s""".stripMargin
      )(rows)
    }
    withSource("1 second") { source =>
      source.start(query(Nil))
      source.add(Seq(at(1, 10)))
      source.stop()
      source.start(query(Seq("s" -> 1)))
      source.add(Seq(at(2, 20)))
      source.stop()
      assert(source.rows.length == 1)
    }
  }

  test("a new column in the source that nobody asks for") {
    def query(columns: String)(rows: DataFrame) =
      rows
        .selectExpr(columns.split(";").toSeq: _*)
        .withColumn("a", expr("sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"))
        .select("id", "a")
    withSource("1 second") { source =>
      source.start(query("id;k;ts;x"))
      source.add(Seq(at(1, 10)))
      source.stop()
      source.start(query("id;k;ts;x;s"))
      source.add(Seq(at(2, 20)))
      source.stop()
      assert(source.rows.length == 1)
    }
  }

  test("a late row does not change answers whose windows do not hold it") {
    updating("1 hour") { source =>
      source.start(
        sql(
          """SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 20 SECONDS PRECEDING) AS a
            |FROM events""".stripMargin
        )
      )
      source.add((100 until 400).map(i => at(i.toLong, i, d = 0.1 * i)))
      source.add(Seq(at(1, 1)))
      source.stop()
      assert(source.answers.values.last.map(_.getLong(0)) == Seq(1L))
    }
  }

  test("update mode: a batch costs the waiting rows of those keys that it has rows of") {
    inDirectory { c =>
      streaming() {
        val source = new Source("1 hour", c, OutputMode.Update())
        val query = source.start(
          sql(
            """SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 SECOND PRECEDING) AS a
              |FROM events""".stripMargin
          )
        )
        source.add((0 until 3000).map(i => at(i.toLong, 10000, k = i)))
        (1 to 6).foreach(i => source.add(Seq(at(5000L + i, 10000 + 10 * i, k = 1))))
        val gets = query.recentProgress.filter(_.batchId >= 3).map { p =>
          p.stateOperators.head.customMetrics.get("rocksdbGetCount").toLong
        }
        source.stop()
        assert(gets.max < 500, gets.mkString(", "))
      }
    }
  }

  test("a row exactly at the watermark") {
    withSource("0 seconds") { source =>
      source.start(
        sql(
          "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a FROM events"
        )
      )
      source.add(Seq(at(1, 10)))
      source.stop()
      assert(source.rows.length == 1)
    }
  }

  private val overHops = sql(
    """SELECT unix_micros(t) AS id, sum(c) OVER (PARTITION BY k ORDER BY t ROWS 2 PRECEDING) AS a FROM
      |(SELECT k, window_time(window) AS t, c FROM (SELECT k, window, count(*) AS c FROM events
      | GROUP BY k, window(ts, '10 seconds', '5 seconds')))""".stripMargin
  ) _

  test("Spark's hops beside OVER go on as they were") {
    withSource("1 second") { source =>
      withSettings("spark.sash.hops.enabled" -> "false") {
        source.start(overHops)
        source.add(Seq(at(1, 10)))
        source.stop()
      }
      source.start(overHops)
      source.add(Seq(at(2, 1000)))
      source.stop()
      assert(source.rows.nonEmpty)
    }
  }

  for (
    (name, call) <- Seq(
      "lag's default" -> "lag(s, 1, current_user()) OVER (PARTITION BY k ORDER BY ts)",
      "an aggregate" -> "max(current_database()) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
    )
  ) test(s"who: $name") {
    withSource("1 second") { source =>
      source.start(sql(s"SELECT id, $call AS a FROM events"))
      source.add(Seq(at(1, 10)))
      source.add(Seq(at(2, 100)))
      source.stop()
      assert(source.rows.map(_.getLong(0)) == Seq(1L))
    }
  }

  test("who and now in hops") {
    withSource("1 second") { source =>
      source.start(
        sql(
          "SELECT window.start, max(current_user()) AS u, max(current_timestamp()) AS n, current_timestamp() AS b " +
            "FROM events GROUP BY window(ts, '10 seconds', '5 seconds')"
        )
      )
      source.add(Seq(at(1, 10)))
      source.add(Seq(at(2, 100)))
      source.stop()
      assert(source.rows.length == 2)
    }
  }

  test("PARTITION BY a column that is made otherwise below") {
    def query(modulus: Int) = sql(
      s"""SELECT id, count(*) OVER (PARTITION BY p ORDER BY ts ROWS 9 PRECEDING) AS a
         |FROM (SELECT *, k % $modulus AS p FROM events)""".stripMargin
    ) _
    withSource("1 second") { source =>
      source.start(query(2))
      source.add(Seq(at(1, 10, k = 2)))
      source.add(Seq(at(2, 20, k = 4)))
      source.stop()
      val refused =
        try {
          source.start(query(3))
          source.add(Seq(at(3, 1000, k = 3)))
          source.add(Seq(at(4, 2000, k = 3)))
          false
        } catch { case _: Exception => true }
      assert(refused, source.rows)
    }
  }

  test("hops below OVER are Spark's rows") {
    streaming() {
      val answers = Seq("true", "false").map { on =>
        withSettings("spark.sash.hops.enabled" -> on) {
          inDirectory { c =>
            val source = new Source("15 seconds", c)
            source.start(overHops)
            batches.zipWithIndex.foreach { case (b, i) =>
              if (i == 2) {
                source.stop()
                source.start(overHops)
              }
              source.add(b)
            }
            source.stop()
            source.rows.map(_.toString).sorted
          }
        }
      }
      assert(answers.head.nonEmpty && answers.head == answers(1))
    }
  }

  test("update mode: rows of a key that never comes again are settled or leave (ROWS)") {
    inDirectory { c =>
      streaming() {
        val source = new Source("10 seconds", c, OutputMode.Update())
        val query = source.start(
          sql(
            "SELECT id, d, s, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) AS a FROM events"
          )
        )
        source.add(
          (0 until 200).flatMap(i =>
            (0 until 20).map(j => at(i * 100L + j, 1000 + j * 0.1, k = i))
          )
        )
        val before = query.lastProgress.stateOperators.head.numRowsTotal
        (1 to 4).foreach(i => source.add(Seq(at(50000L + i, 5000 + 1000 * i, k = 0))))
        val after = query.lastProgress.stateOperators.head.numRowsTotal
        source.stop()
        // a header for each key is what its windows need; 200 lists of 20 waiting rows are not
        assert(after < 300, s"$before, then $after")
      }
    }
  }

  test("no batches without data, once each") {
    streaming("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      inDirectory { c =>
        val source = new Source("1 second", c)
        source.start(
          sql(
            "SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a FROM events"
          )
        )
        (1 to 5).foreach(i => source.add(Seq(at(i, i * 10, k = i % 2))))
        source.stop()
        assert(source.rows.map(_.getLong(0)).sorted == Seq(1L, 2L, 3L))
      }
    }
  }

  test("a query whose first batch failed has no state, and may be mended") {
    withSource("1 second") { source =>
      intercept[Exception] {
        source.start(
          sql(
            "SELECT id, sum(x DIV (x - 1)) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a FROM events"
          )
        )
        source.add(Seq(at(1, 10, x = 1)))
      }
      source.stop()
      source.start(
        sql(
          "SELECT id, sum(x DIV nullif(x - 1, 0)) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a FROM events"
        )
      )
      source.add(Seq(at(2, 100, x = 3)))
      source.stop()
      assert(source.rows.length == 1)
    }
  }

  test("many aggregates, restarted") {
    spark.udf.register("plus_one", (x: Int) => x + 1)
    spark.udf.register(
      "own_sum",
      org.apache.spark.sql.functions.udaf(new OwnSum, org.apache.spark.sql.Encoders.scalaInt)
    )
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2, 4))(
        sql(
          """SELECT id, percentile_approx(x, 0.5) OVER w a, collect_set(s) OVER w AS set_s, bool_and(x > 5) OVER w b,
            | max_by(s, id) OVER w m, bit_xor(x) OVER w bx, try_sum(x) OVER w ts2, count_if(x > 3) OVER w ci,
            | sum(plus_one(coalesce(x, 0))) OVER w po, own_sum(x) OVER w os, sum(x + (SELECT 3)) OVER w sq,
            | sum(size(transform(array(x), y -> y + 1))) OVER w l, listagg(s, ',') OVER w li, any_value(s) OVER w av
            | FROM events WINDOW w AS (PARTITION BY plus_one(k), upper(s) > 'K' ORDER BY ts, id ROWS 6 PRECEDING)""".stripMargin
        )
      )
    }
  }

  private val groupsQuery =
    """SELECT id, sum(x) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200), window_slide(3)
      |   ORDER BY ts, id) AS a,
      | sum(x) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200) ORDER BY ts, id) AS b,
      | count(*) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200), window_slide(2)
      |   ORDER BY ts, id) AS c,
      | sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS e,
      | max(d) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS f,
      | max(d) OVER (PARTITION BY k ORDER BY ts, id ROWS BETWEEN 9 PRECEDING AND 4 PRECEDING) AS g,
      | sum(x) FILTER (WHERE d > 30) OVER (PARTITION BY k ORDER BY ts, id) AS h,
      | sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS i,
      | sum(x) OVER (PARTITION BY k, punctuation_window(x % 7 = 0), window_slide(INTERVAL 7 SECONDS) ORDER BY ts, id) AS j,
      | lag(x, 2) OVER (PARTITION BY k ORDER BY ts, id) AS l, lag(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts, id) AS m,
      | rank() OVER (PARTITION BY k ORDER BY ts, id) AS n
      | FROM events""".stripMargin

  test("groups, append") {
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2, 4))(sql(groupsQuery))
    }
  }

  private def checkUpdates(
      batches: Seq[Seq[Event]],
      delaySeconds: Int,
      restartBefore: Set[Int]
  )(query: DataFrame => DataFrame): Unit = updating(s"$delaySeconds seconds") { source =>
    source.start(query)
    val last = mutable.HashMap.empty[Long, Seq[Any]]
    var seen = 0
    batches.indices.foreach { i =>
      if (restartBefore(i)) {
        source.stop()
        source.start(query)
      }
      source.add(batches(i))
      val (inTime, _) = StreamSuite.onTime(batches.take(i + 1), delaySeconds)
      def answers(rows: Seq[Row]): Map[Long, Seq[Any]] =
        rows.map(r => r.getLong(0) -> r.toSeq).toMap
      val all = answers(query(spark.createDataFrame(inTime)).collect().toSeq)
      val expected = all.filterNot { case (id, answer) => last.get(id).contains(answer) }
      val now = source.rows.drop(seen)
      seen += now.length
      assert(answers(now) == expected, s"batch $i")
      last ++= expected
    }
    source.stop()
  }

  test("groups, update") {
    checkUpdates(batches, delaySeconds = 15, restartBefore = Set(2, 4))(
      sql(groupsQuery.linesIterator.filterNot(_.contains("gap_window")).mkString("\n"))
    )
  }

  for (seed <- Seq(21, 23))
    test(s"peers, sessions, ranges, update: $seed") {
      checkUpdates(
        StreamSuite.batches(seed.toLong, count = 6, size = 60, jitterSeconds = 40, keys = 2),
        delaySeconds = 5 * (seed - 20),
        restartBefore = Set(2, 4)
      )(
        sql(
          """SELECT id, rank() OVER w AS r, sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 1 SECOND) ORDER BY ts) AS g,
            | max(d) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 30 SECONDS PRECEDING AND INTERVAL 1 SECOND PRECEDING) AS a,
            | count(*) OVER (PARTITION BY k, window_slide(INTERVAL 3 SECONDS) ORDER BY ts RANGE INTERVAL 1 SECOND PRECEDING) AS c,
            | min(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 2 SECONDS PRECEDING) AS b,
            | count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 MONTH PRECEDING) AS m
            | FROM events WINDOW w AS (PARTITION BY k ORDER BY ts)""".stripMargin
        )
      )
    }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"a batch that fails after its rows were given is given again: $mode") {
      streaming()(inDirectory { c =>
        val events = org.apache.spark.sql.execution.streaming.runtime
          .MemoryStream[Event](org.apache.spark.sql.Encoders.product[Event], spark)
        val seen = mutable.ArrayBuffer.empty[(Long, Seq[String])]
        var fails = false
        def start() = sql(
          "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a," +
            " sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 40 PRECEDING) AS b FROM events"
        )(events.toDF().withWatermark("ts", "5 seconds")).writeStream
          .option("checkpointLocation", c)
          .outputMode(mode)
          .foreachBatch { (rows: DataFrame, id: Long) =>
            val first = rows.collect().map(_.toString).toSeq.sorted
            assert(rows.collect().map(_.toString).toSeq.sorted == first)
            seen += id -> first
            if (fails) {
              fails = false
              throw new IllegalStateException("as asked for")
            }
          }
          .start()
        var query = start()
        batches.foreach { b =>
          fails = true
          events.addData(b)
          intercept[Exception](query.processAllAvailable())
          query = start()
          query.processAllAvailable()
        }
        query.stop()
        seen.groupBy(_._1).values.foreach(g => assert(g.map(_._2).distinct.length == 1))
        assert(seen.map(_._2.length).sum > 20)
      })
    }

  test("state in Avro") {
    streaming("spark.sql.streaming.stateStore.encodingFormat" -> "avro") {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2))(
        sql(
          "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 40 PRECEDING) AS a FROM events"
        )
      )
    }
  }

  test("a static side with windows of its own") {
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2))(
        sql(
          """SELECT e.id, r.n, sum(x) OVER (PARTITION BY e.k ORDER BY ts, id ROWS 3 PRECEDING) AS a,
            | sum(r.n) OVER (PARTITION BY e.k ORDER BY ts, id ROWS 3 PRECEDING) AS b FROM events e JOIN
            | (SELECT j, row_number() OVER (ORDER BY j DESC) AS n, sum(j) OVER (ORDER BY j) AS m FROM VALUES (0), (1), (2) AS v(j)) r
            | ON e.k = r.j""".stripMargin.replace(" JOIN", " LEFT JOIN")
        )
      )
    }
  }
}

class OwnSum extends org.apache.spark.sql.expressions.Aggregator[Int, Long, Long] {
  override def zero: Long = 0L
  override def reduce(b: Long, a: Int): Long = b + a
  override def merge(a: Long, b: Long): Long = a + b
  override def finish(r: Long): Long = r
  override def bufferEncoder: org.apache.spark.sql.Encoder[Long] =
    org.apache.spark.sql.Encoders.scalaLong
  override def outputEncoder: org.apache.spark.sql.Encoder[Long] =
    org.apache.spark.sql.Encoders.scalaLong
}
