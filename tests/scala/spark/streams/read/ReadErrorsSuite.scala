package io.sash.spark.streams.read

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite}

/** The arguments and queries of `read_state`, its errors, and a query that runs beside it. */
@Slow
class ReadErrorsSuite extends StreamSuite {
  import StreamSuite._

  private val Last3 = "sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 2 PRECEDING)"
  private val Recent =
    "sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING)"
  private val query = sql(s"SELECT k, ts, $Last3 AS s FROM events") _
  private val Start = 1600000000L

  private def events(seconds: Int*): Seq[Event] =
    seconds.map(s => at(s.toLong, s.toDouble, x = s))

  /** A query that has answered some seconds, and is read while it runs. */
  private def withQuery(of: DataFrame => DataFrame, seconds: Int*)(
      body: (Source, String) => Unit
  ): Unit = streaming()(inDirectory { checkpoint =>
    val source = new Source("5 seconds", checkpoint)
    source.start(of)
    source.add(events(seconds: _*))
    try body(source, checkpoint)
    finally source.stop()
  })

  private def why(body: => Any): String = intercept[AnalysisException](body).getMessage

  test("arguments are checked") {
    withQuery(query, 1, 2, 20) { (source, checkpoint) =>
      def refused(arguments: String) =
        why(query(source.frame).where(s"read_state($arguments)").collect())
      assert(refused("5").contains("a constant STRING"))
      assert(refused("NULL").contains("not NULL"))
      assert(refused(s"'$checkpoint', 1").contains("a constant ARRAY of keys"))
      assert(refused(s"'$checkpoint', array(DATE '2026-03-01')").contains("an ARRAY of INT"))
      assert(refused(s"'$checkpoint', NULL, 5").contains("a constant TIMESTAMP"))
      assert(refused(s"'$checkpoint/none'").contains("has no batch that is committed"))
      val passed = refused(s"'$checkpoint', NULL, timestamp_seconds(${Start + 15})")
      assert(passed.contains("has let go of rows by 2020-09-13T12:26:55Z"), passed)
    }
  }

  test("it stands above windows of a stream, as a condition") {
    withQuery(query, 1, 2, 20) { (source, checkpoint) =>
      val call = s"read_state('$checkpoint')"
      val rows = query(source.frame)
      assert(why(rows.selectExpr(call)).contains("it is a condition of WHERE"))
      assert(why(rows.where(s"$call OR k = 1")).contains("with no OR or NOT"))
      assert(why(rows.groupBy("k").count().where(call)).contains("and above nothing else"))
      assert(why(spark.range(1).where(call)).contains("above nothing else"))
      val ahead = sql(s"SELECT k, lead(x) OVER (PARTITION BY k ORDER BY ts) FROM events") _
      assert(why(ahead(source.frame).where(call)).contains("looks ahead"))
      assert(rows.where(s"$call AND s > 0").count() == 1)
      assert(rows.where("s > 1000").where(call).count() == 1)
    }
  }

  test("another query, and other settings, are refused as at a restart") {
    withQuery(query, 1, 2, 20) { (source, checkpoint) =>
      val call = s"read_state('$checkpoint')"
      val other =
        sql("SELECT k, sum(x + 1) OVER (PARTITION BY k ORDER BY ts, id) AS s FROM events") _
      val error = intercept[Exception](other(source.frame).where(call).collect())
      assert(error.getMessage.contains("start the query as it was"), error)
      withSettings("spark.sash.stream.buckets" -> "16") {
        val error = intercept[Exception](query(source.frame).where(call).collect())
        assert(error.getMessage.contains("set spark.sash.stream.buckets to 8"), error)
      }
    }
  }

  test("windows above an operator that holds rows back are refused") {
    val below = s"SELECT k, ts, $Last3 AS s FROM events"
    val chains = Seq(
      s"SELECT sum(s) OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING) AS t FROM ($below)",
      s"""SELECT k, window(ts, '10 seconds', '5 seconds') AS w, sum(s) AS t
         |FROM ($below) GROUP BY k, window(ts, '10 seconds', '5 seconds')""".stripMargin
    )
    chains.foreach { chain =>
      val of = sql(chain) _
      withQuery(of, 1, 2, 20) { (source, checkpoint) =>
        val error = why(of(source.frame).where(s"read_state('$checkpoint')").collect())
        assert(error.contains("(TransformWithState), which holds rows back"), error)
      }
    }
    val distinct = sql(s"SELECT k, ts, $Last3 AS s FROM (SELECT DISTINCT * FROM events)") _
    withQuery(distinct, 1, 2, 20) { (source, checkpoint) =>
      val error = why(distinct(source.frame).where(s"read_state('$checkpoint')").collect())
      assert(error.contains("(Distinct), which holds rows back"), error)
    }
    def dropped(rows: DataFrame) = query(rows.dropDuplicates())
    withQuery(dropped, 1, 2, 20) { (source, checkpoint) =>
      val read = dropped(source.frame).where(s"read_state('$checkpoint')").select("s")
      assert(read.collect().toSeq == Seq(Row(23L)))
    }
  }

  test("windows in which late rows count are refused") {
    val query = sql(s"SELECT k, ts, $Recent AS s FROM events") _
    withSettings("spark.sash.stream.lateRows" -> "count") {
      withQuery(query, 1, 2, 20) { (source, checkpoint) =>
        val error = why(query(source.frame).where(s"read_state('$checkpoint')").collect())
        assert(error.contains("windows in which late rows count"), error)
      }
    }
  }

  test("a copy of a checkpoint is read from its own files") {
    withQuery(query, 1, 2, 20) { (source, checkpoint) =>
      inDirectory { folder =>
        val copy = s"$folder/copy"
        FileUtils.copyDirectory(Path.of(checkpoint).toFile, Path.of(copy).toFile)
        def read(from: String) =
          query(source.frame).where(s"read_state('$from')").select("s").collect().toSeq
        source.add(events(21))
        source.stop()
        assert(read(checkpoint) == Seq(Row(43L)))
        FileUtils.deleteDirectory(Path.of(checkpoint, "state").toFile)
        assert(read(copy) == Seq(Row(23L)))
      }
    }
  }

  test("the columns that the query selects may be others") {
    withQuery(sql(s"SELECT id, b FROM (SELECT *, $Last3 AS b FROM events)"), 1, 2, 20) {
      (source, checkpoint) =>
        val other = sql(s"SELECT *, $Last3 AS b FROM events")(source.frame)
        val read = other.where(s"read_state('$checkpoint')").select("k", "b", "d")
        assert(read.collect().toSeq == Seq(Row(1, 23L, null)))
    }
  }

  test("keys of expressions, of several columns, and of none") {
    val two = sql(
      "SELECT lower(s) AS l, k, sum(x) OVER (PARTITION BY lower(s), k ORDER BY ts) AS b " +
        "FROM events"
    ) _
    withQuery(two, 1, 2, 20) { (source, checkpoint) =>
      val keys = "array(struct('s', 1), struct('S', 1))"
      val read = two(source.frame).where(s"read_state('$checkpoint', $keys)")
      assert(read.collect().toSeq == Seq(Row("s", 1, 23L)))
      assert(
        two(source.frame).where(s"read_state('$checkpoint')").collect().toSeq == read
          .collect()
          .toSeq
      )
    }
    val none = sql("SELECT sum(x) OVER (ORDER BY ts) AS b FROM events") _
    withQuery(none, 1, 2, 20) { (source, checkpoint) =>
      val read = none(source.frame).where(s"read_state('$checkpoint')")
      assert(read.collect().toSeq == Seq(Row(23L)))
      val error = why(none(source.frame).where(s"read_state('$checkpoint', array(1))").collect())
      assert(error.contains("leave it out"))
    }
  }

  test("keys of a collation are read by name") {
    val query =
      sql(
        "SELECT c, count(*) OVER (PARTITION BY c ORDER BY ts, id ROWS 5 PRECEDING) AS n " +
          "FROM (SELECT *, s COLLATE UTF8_LCASE AS c FROM events)"
      ) _
    withQuery(query, 1, 2, 20) { (source, checkpoint) =>
      def read(keys: String) =
        query(source.frame).where(s"read_state('$checkpoint', $keys)").collect()
      assert(read("array('S')").toSeq == Seq(Row("S", 3L)))
      assert(why(read("NULL")).contains("name the keys"))
    }
  }

  test("a key whose time to live is over has empty windows") {
    withSettings("spark.sash.stream.keyTimeToLive" -> "30s") {
      withQuery(query, 1, 2, 20) { (source, checkpoint) =>
        def read(second: Long) = query(source.frame)
          .where(s"read_state('$checkpoint', array(1), timestamp_seconds(${Start + second}))")
          .collect()
          .map(_.get(2))
          .toSeq
        assert(read(50) == Seq(23L))
        assert(read(51) == Seq(null))
      }
    }
  }

  test("each read sees the last batch, and changes no file") {
    val recent = sql(s"SELECT k, ts, $Recent AS s FROM events") _
    withQuery(recent, 1, 2, 10) { (source, checkpoint) =>
      def files = Files
        .walk(Path.of(checkpoint))
        .iterator
        .asScala
        .filter(Files.isRegularFile(_))
        .map(f => f -> Files.getLastModifiedTime(f))
        .toSet
      def read = recent(source.frame)
        .where(s"read_state('$checkpoint', array(1, 7), timestamp_seconds(${Start + 12}))")
        .collect()
        .map(r => r.get(0) -> r.get(2))
        .toMap
      (11 to 16).foreach { second =>
        val before = files
        val expected = (Seq(10) ++ (11 to second - 1)).filter(_ <= 12).sum
        assert(read == Map[Any, Any](1 -> expected.toLong, 7 -> null), second)
        assert(files == before)
        source.add(events(second))
      }
    }
  }

  test("the next read of a partition finds the windows of the last one") {
    withQuery(query, 1, 2, 20) { (source, checkpoint) =>
      val features = query(source.frame)
      def read(arguments: String) =
        features.where(s"read_state('$checkpoint'$arguments)").collect().map(_.get(2)).toSeq
      def made(body: => Unit): Long = {
        val before = LentStore.count.sum
        body
        LentStore.count.sum - before
      }
      // expressions of the plan note their canonical forms when they are first read
      (1 to 2).foreach(_ => read(", array(1)"))
      assert(made(assert(read(", array(1)") == Seq(23L))) == 0)
      val other = sql(s"SELECT $Last3 AS s, k FROM events")(source.frame)
      assert(other.where(s"read_state('$checkpoint', array(1))").head() == Row(23L, 1))
      read(", array(1)")
      assert(made(assert(read(s", array(1), timestamp_seconds(${Start + 99})") == Seq(23L))) == 0)
      source.add(events(21))
      assert(made(assert(read(", array(1)") == Seq(43L))) == 1)
    }
  }

  test("each row's own width is given") {
    val own = "window_and(rows_window(x % 7), count_window(5))"
    val times = "window_and(range_window(make_dt_interval(0, 0, 0, x)), time_window('9 seconds'))"
    val two = sql(
      s"SELECT k, sum(d) OVER (PARTITION BY k, $own ORDER BY ts) AS a, " +
        s"sum(d) OVER (PARTITION BY k, $times ORDER BY ts) AS b FROM events"
    ) _
    streaming()(inDirectory { checkpoint =>
      val source = new Source("5 seconds", checkpoint)
      source.start(two)
      source.add((1 to 20).map(s => at(s.toLong, s.toDouble, d = s.toDouble)))
      def read(arguments: String) =
        two(source.frame).where(s"read_state('$checkpoint'$arguments)").collect().toSeq
      def sum(from: Int) = (from to 20).sum.toDouble
      def widths(x: String) = s"named_struct('x', $x)"
      // the rows of the last width, and of the times at the last row
      assert(read(s", NULL, NULL, ${widths("3")}") == Seq(Row(1, sum(17), sum(17))))
      assert(read(s", NULL, NULL, ${widths("'6'")}") == Seq(Row(1, sum(16), sum(14))))
      val later = s"timestamp_seconds(${Start + 22})"
      assert(read(s", array(1), $later, ${widths("3L")}") == Seq(Row(1, sum(17), sum(19))))
      assert(read(s", array(9), $later, ${widths("3")}") == Seq(Row(9, null, null)))
      assert(read(s", NULL, NULL, ${widths("NULL")}") == Seq(Row(1, null, null)))
      assert(why(read("")).contains("named_struct('x', <INT>)"))
      assert(
        why(read(s", NULL, NULL, named_struct('y', 3)")).contains("named_struct('x', <INT>)")
      )
      assert(why(read(s", NULL, NULL, 3")).contains("a constant STRUCT"))
      assert(
        why(read(s", NULL, NULL, ${widths("DATE '2026-03-01'")}"))
          .contains("x has type INT, and the field DATE")
      )
      source.stop()
    })
    withQuery(query, 1, 2, 20) { (source, checkpoint) =>
      val call = s"read_state('$checkpoint', NULL, NULL, named_struct('x', 3))"
      assert(why(query(source.frame).where(call).collect()).contains("leave it out"))
    }
  }

  test("reads beside a running batch see whole batches, and fail neither") {
    val count = sql("SELECT k, count(*) OVER (PARTITION BY k ORDER BY ts) AS n FROM events") _
    withQuery(count, 0 until 5: _*) { (source, checkpoint) =>
      val adding =
        new Thread(() => (1 to 5).foreach(b => source.add(events(b * 5 until b * 5 + 5: _*))))
      adding.start()
      val seen = Iterator
        .continually(count(source.frame).where(s"read_state('$checkpoint')").head().getLong(1))
        .takeWhile(_ => adding.isAlive)
        .toSeq
      adding.join()
      assert(seen.nonEmpty && seen.forall(_ % 5 == 0) && seen == seen.sorted, seen)
      assert(count(source.frame).where(s"read_state('$checkpoint')").head().getLong(1) == 30L)
    }
  }
}
