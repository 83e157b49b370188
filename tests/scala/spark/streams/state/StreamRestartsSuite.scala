package io.sash.spark.streams.state

import scala.collection.mutable

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}

/** Queries that go on from a checkpoint, changed or not. */
@Slow
class StreamRestartsSuite extends StreamSuite {
  import StreamSuite.at

  private val batches =
    StreamSuite.batches(11, count = 5, size = 40, jitterSeconds = 25, keys = 3)

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

  test("hops below OVER are Spark's rows", Thorough) {
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

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"a batch that fails after its rows were given is given again: $mode", each(2): _*) {
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
}
