package io.sash.spark.streams.read

import java.sql.Timestamp

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite}
import io.sash.spark.base.SashConf

/** Open hop windows that are read from a checkpoint have the batch query's answers so far. */
@Slow
class ReadHopsSuite extends StreamSuite {
  import StreamSuite._

  private val calls = Seq(
    "count(*) AS n",
    "sum(x) AS s",
    "max(d) AS m",
    "count(DISTINCT x) AS c",
    "median(d) AS h"
  ).mkString(", ")

  private def hops(window: String, keys: String = "k, ")(rows: DataFrame): DataFrame =
    sql(s"SELECT $keys window, $calls FROM events GROUP BY $keys window(ts, $window)")(rows)

  /** The batch query's windows that end after a watermark, in milliseconds. */
  private def open(query: DataFrame => DataFrame, rows: Seq[Event], watermark: Long): Seq[Row] =
    query(spark.createDataFrame(rows))
      .where(col("window.end") > lit(new Timestamp(watermark)))
      .collect()
      .toSeq

  private def same(read: DataFrame, expected: Seq[Row]): Unit = {
    assert(!read.isStreaming)
    assert(read.queryExecution.executedPlan.exists(_.isInstanceOf[StateRowsExec]))
    def counted(rows: Seq[Row]) = rows.groupBy(identity).map { case (r, all) => r -> all.length }
    assert(counted(read.collect().toSeq) == counted(expected))
  }

  /** Reads after each batch, with a restart in between. */
  private def check(mode: OutputMode, query: DataFrame => DataFrame, seed: Int): Unit =
    streaming()(inDirectory { checkpoint =>
      val source = new Source("15 seconds", checkpoint, mode)
      val some = batches(seed, count = 4, size = 16, jitterSeconds = 30, keys = 3).init
      source.start(query)
      some.indices.foreach { i =>
        if (i == 2) {
          source.stop()
          source.start(query)
        }
        source.add(some(i))
        val rows = some.take(i + 1).flatten
        val expected = open(query, rows, onTime(some.take(i + 1), 15)._2)
        assert(expected.nonEmpty, "vacuous: no open window")
        same(query(source.frame).where(s"read_state('$checkpoint')"), expected)
      }
      source.stop()
    })

  private val windows = Seq(
    "'10 seconds', '5 seconds'" -> "two panes",
    "'25 seconds', '10 seconds'" -> "a size that is no multiple of the slide",
    "'40 seconds', '1 second'" -> "panes beyond a node",
    "'3 seconds', '200 milliseconds'" -> "gaps between windows"
  )

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"open windows are the batch's, in $mode mode") {
      windows.zipWithIndex.foreach { case ((window, _), i) => check(mode, hops(window), i) }
      check(mode, hops("'25 seconds', '10 seconds'", keys = ""), 7)
    }

  test("conditions, projections and computed keys") {
    def query(rows: DataFrame): DataFrame = sql(
      """SELECT window, lower(s) AS l, k + 1 AS k1, sum(x) + count(*) AS y, window.end AS e
        |FROM events WHERE d > 20 GROUP BY window(ts, '30 seconds', '10 seconds'), lower(s), k
        |HAVING count(*) > 1 OR sum(x) > 10""".stripMargin
    )(rows)
    check(OutputMode.Append(), query, 3)
  }

  /** A query that has read rows at some seconds. */
  private def withQuery(query: DataFrame => DataFrame, seconds: Int*)(
      body: (Source, String) => Unit
  ): Unit = streaming()(inDirectory { checkpoint =>
    val source = new Source("5 seconds", checkpoint)
    source.start(query)
    source.add(seconds.map(s => at(s.toLong, s.toDouble, k = s % 3, x = s)))
    try body(source, checkpoint)
    finally source.stop()
  })

  private val byTen = hops("'20 seconds', '10 seconds'") _

  test("some keys, and a part of the answers") {
    withQuery(byTen, 1 to 40: _*) { (source, checkpoint) =>
      val all = byTen(source.frame).where(s"read_state('$checkpoint')")
      val some = byTen(source.frame)
        .where(s"read_state('$checkpoint', array(2, 0, 2, NULL, 9)) AND n > 1")
      same(some, all.where("k IN (0, 2) AND n > 1").collect().toSeq)
      assert(some.count() > 2)
      assert(byTen(source.frame).where(s"read_state('$checkpoint', array(9))").isEmpty)
      val pairs = all.join(some, Seq("k", "window"))
      assert(pairs.count() == some.where("k IS NOT NULL").count())
      // a task that ends early leaves its store to the next
      assert(byTen(source.frame).where(s"read_state('$checkpoint')").take(1).length == 1)
      same(byTen(source.frame).where(s"read_state('$checkpoint')"), all.collect().toSeq)
    }
  }

  test("the next read finds the windows of the last one") {
    withQuery(byTen, 1 to 40: _*) { (source, checkpoint) =>
      val features = byTen(source.frame)
      def read() = features.where(s"read_state('$checkpoint', array(1))").collect().toSet
      val first = read()
      (1 to 2).foreach(_ => read()) // expressions note their canonical forms
      val before = LentStore.count.sum
      assert(read() == first && first.size > 1)
      assert(LentStore.count.sum == before)
      assert(features.where(s"read_state('$checkpoint', array(1))").where("n > 5").count() > 0)
    }
  }

  private def why(body: => Any): String = intercept[Exception](body).getMessage

  test("errors say what to write instead") {
    withQuery(byTen, 1, 2, 40) { (source, checkpoint) =>
      def refused(arguments: String, query: DataFrame => DataFrame = byTen) =
        why(query(source.frame).where(s"read_state($arguments)").collect())
      assert(
        refused(s"'$checkpoint', NULL, timestamp_seconds(5)").contains(
          "as in window.end > <time>"
        )
      )
      assert(
        refused(s"'$checkpoint', NULL, NULL, named_struct('x', 5)").contains("leave it out")
      )
      assert(refused(s"'$checkpoint', array(DATE '2026-03-01')").contains("as in GROUP BY"))
      val other = hops("'20 seconds', '5 seconds'") _
      assert(refused(s"'$checkpoint'", other).contains("start the query as it was"))
      val over = sql("SELECT count(*) OVER (PARTITION BY k ORDER BY ts) AS n FROM events") _
      assert(refused(s"'$checkpoint'", over).contains("has no windows of Sash's OVER"))
      val first = sql(
        "SELECT window(ts, '9 seconds', '3 seconds') AS window, first(x) AS f FROM events GROUP BY 1"
      ) _
      assert(
        refused(s"'$checkpoint'", first).contains(
          "Spark's own operator answers the hop windows: first"
        )
      )
      val none = hops("'20 seconds', '10 seconds'", keys = "") _
      assert(refused(s"'$checkpoint'", none).contains("start the query as it was"))
    }
  }

  test("hop windows that Spark has answered are refused") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("5 seconds", checkpoint, isOurs = false)
      val query = sql(
        "SELECT window(ts, '20 seconds', '10 seconds') AS window, count(*) FROM events GROUP BY 1"
      ) _
      withSettings(SashConf.HopsEnabled.key -> "false")(source.start(query))
      source.add(Seq(at(1, 1), at(2, 40)))
      source.stop()
      val error = intercept[AnalysisException] {
        query(source.frame).where(s"read_state('$checkpoint')").collect()
      }
      assert(error.getMessage.contains("has no hop windows of Sash"), error)
    })
  }

  test("a changed query has no window of the query before") {
    withQuery(byTen, 1, 2, 3, 40) { (source, checkpoint) =>
      source.add((0 to 15).map(k => at(60L + k, 41, k = k))) // keys of many buckets
      source.stop()
      val other = hops("'20 seconds', '5 seconds'") _
      withSettings(SashConf.StreamNewWindows.key -> "incomplete")(source.start(other))
      source.add(Seq(at(50, 42, k = 1, x = 7)))
      val read = other(source.frame).where(s"read_state('$checkpoint')").collect()
      assert(read.map(_.getLong(2)).toSeq == Seq(1L, 1L, 1L, 1L), read.toSeq)
    }
  }
}
