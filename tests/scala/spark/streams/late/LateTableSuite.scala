package io.sash.spark.streams.late

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.SparkException
import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.functions.{col, expr}
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.streams.start.StreamingWrite

/** The rows that operators drop as late are in files, each once. */
class LateTableSuite extends StreamSuite {
  import LateTableSuite._
  import StreamSuite._

  private val over = sql(
    "SELECT id, sum(x * 2) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a " +
      "FROM events"
  ) _
  private val hops = sql(
    "SELECT k, count(*) AS c FROM events GROUP BY k, window(ts, '20 seconds', '10 seconds')"
  ) _
  private val bits = sql(
    "SELECT k, unix_seconds(window.end) - 1600000000 AS until, " +
      "sum(shiftleft(CAST(1 AS BIGINT), CAST(id AS INT))) AS ids " +
      "FROM events GROUP BY k, window(ts, '40 seconds', '10 seconds')"
  ) _
  private val labels = sql(
    "SELECT l.id, (SELECT sum(x) FROM events e WHERE e.k <=> l.k AND e.ts <= l.ts AND " +
      "e.ts > l.ts - INTERVAL 20 SECONDS) AS a FROM events l"
  ) _

  private def late(path: String): DataFrame = spark.read.parquet(path)

  private def lateIds(path: String): Seq[Long] =
    if (Files.exists(Path.of(path))) late(path).select("row.id").collect().map(_.getLong(0)).toSeq
    else Nil

  /** Runs a query whose late rows are kept, in a folder of their own. */
  private def keeping(
      batches: Seq[Seq[Event]],
      mode: OutputMode = OutputMode.Append(),
      restartBefore: Set[Int] = Set.empty,
      delaySeconds: Int = 15
  )(query: DataFrame => DataFrame)(check: (Source, String) => Unit): Unit =
    inDirectory { folder =>
      val path = s"$folder/late"
      streaming(Setting -> path) {
        val source = new Source(s"$delaySeconds seconds", s"$folder/checkpoint", mode)
        run(source, batches, restartBefore)(query)
        check(source, path)
      }
    }

  private def checkOver(seed: Long, mode: OutputMode): Unit = {
    val random = new Random(seed)
    val all = StreamSuite.batches(seed, count = 6, size = 60, jitterSeconds = 40, keys = 3)
    val (inTime, _) = onTime(all, delaySeconds = 15)
    keeping(all, mode, restartBefore = Set(random.nextInt(6)))(over) { (source, path) =>
      val answered = source.rows.map(_.getLong(0)).distinct
      val dropped = lateIds(path)
      val expected = all.flatten.filter(_.ts.nonEmpty).map(_.id).diff(inTime.map(_.id))
      assert(dropped.sorted == expected.sorted && dropped.nonEmpty, s"seed $seed")
      val end = if (mode == OutputMode.Append()) Seq(all.flatten.last.id) else Nil
      val timed = all.flatten.filter(_.ts.nonEmpty).map(_.id).diff(end)
      assert((answered ++ dropped).sorted == timed.sorted, s"seed $seed")
    }
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"answered rows and late rows are all rows, each once: OVER, $mode mode", each(2): _*) {
      checkOver(7, mode)
    }

  test("answered rows and late rows are all rows, each once: random arrivals", Thorough) {
    for (seed <- 100L until 120L; mode <- Seq(OutputMode.Append(), OutputMode.Update()))
      checkOver(seed, mode)
  }

  private val first = Seq(at(1, 0), at(2, 100))
  private val second = Seq(at(3, 5, k = 2, x = 9), at(4, 101), at(5, 6))

  test("a late row has its batch, operator, watermark and all columns of the query's rows") {
    keeping(Seq(first, second))(over) { (_, path) =>
      val columns = Seq("query", "watermark", "missed", "windows", "row", "operator", "batch")
      assert(late(path).columns.toSeq == columns)
      val rows = late(path)
        .select("batch", "operator", "watermark", "row.id", "row.k", "row.x", "row.s", "row.ts")
        .orderBy("id")
        .selectExpr("*", "CAST(watermark - ts AS STRING) AS behind")
        .drop("watermark", "ts")
        .collect()
      assert(
        rows.toSeq == Seq(
          Row(2, 0, 3L, 2, 9, "s", "INTERVAL '0 00:01:20' DAY TO SECOND"),
          Row(2, 0, 5L, 1, 1, "s", "INTERVAL '0 00:01:19' DAY TO SECOND")
        )
      )
      assert(late(path).select("row.*").schema.forall(_.metadata.json == "{}"))
      assert(late(path).where("missed IS NULL AND windows IS NULL").count() == 2)
    }
  }

  test("hops: a row is late if one of its windows is over; unread columns are kept") {
    val rows = Seq(at(3, 75), at(4, 65), at(5, 55, x = 7), at(6, 4))
    keeping(Seq(first, rows))(hops) { (source, path) =>
      val kept = late(path)
        .select("row.id", "row.x", "row.d", "missed", "windows")
        .orderBy("id")
        .collect()
        .toSeq
      // the watermark is at 85 seconds; the beginning lies 0 seconds into a window
      assert(
        kept == Seq(
          Row(3L, 1, 0.0, 1L, 2L),
          Row(4L, 1, 0.0, 2L, 2L),
          Row(5L, 7, 0.0, 2L, 2L),
          Row(6L, 1, 0.0, 2L, 2L)
        )
      )
      assert(source.execution.analyzed.exists(_.isInstanceOf[LateTable]))
    }
  }

  /**
   * Each row is in the windows that were still open by the watermark of the batch before. If one
   * of its windows was over, the table has the row, once, with the number of such windows. The
   * bits of a window's sum are its rows.
   */
  private def checkWindows(seed: Long, mode: OutputMode): Unit = {
    val random = new Random(seed)
    val seconds = Seq.tabulate(6, 10)((batch, _) => 40L * batch + 30 - random.nextInt(180))
    val passed = seconds.scanLeft(Long.MinValue)((mark, of) => math.max(mark, of.max - 15))
    // a key has no rows in many batches
    val keys = Seq.fill(60)(random.nextInt(15))
    val batches = seconds.zipWithIndex.map { case (of, batch) =>
      of.zipWithIndex.map { case (second, i) =>
        at(10L * batch + i, second.toDouble, k = keys(10 * batch + i))
      }
    }
    val ends = for {
      (of, batch) <- seconds.zipWithIndex
      (second, i) <- of.zipWithIndex
      end <- (10 to 40 by 10).map(math.floorDiv(second, 10L) * 10 + _)
    } yield (10L * batch + i, end, end > passed(math.max(0, batch - 1)))
    val (open, over) = ends.partition(_._3)
    val windows =
      open.groupMapReduce { case (id, end, _) => (keys(id.toInt), end) }(1L << _._1)(_ | _)
    val due = windows.filter { case ((_, end), _) =>
      mode == OutputMode.Update() || end <= passed(5)
    }
    val (partly, dropped) = over.map(_._1).distinct.partition(open.map(_._1).toSet)
    assert(partly.nonEmpty && dropped.nonEmpty, "vacuous")
    withSettings("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      keeping(batches, mode, restartBefore = Set(2, 4))(bits) { (source, path) =>
        val answers =
          source.rows.map(r => (r.getInt(0), r.getLong(1)) -> r.getLong(2)).toMap
        assert(answers == due, s"seed $seed")
        val missed = over.groupMapReduce(_._1)(_ => 1L)(_ + _)
        val kept = late(path).select("row.id", "missed", "windows").collect().toSeq
        assert(kept.map(_.getLong(0)).sorted == (partly ++ dropped).sorted, s"seed $seed")
        assert(kept.toSet == missed.map { case (id, n) => Row(id, n, 4L) }.toSet, s"seed $seed")
      }
    }
  }

  test("hops: windows that the slide does not divide: a row is in two or three") {
    val odd =
      sql("SELECT count(*) FROM events GROUP BY k, window(ts, '25 seconds', '10 seconds')") _
    val rows = Seq(at(3, 79), at(4, 71), at(5, 69), at(6, 61), at(7, 56), at(8, 90))
    keeping(Seq(first, rows))(odd) { (_, path) =>
      val kept = late(path).select("row.id", "missed", "windows").orderBy("id").collect().toSeq
      // the ends of windows are 5 seconds, 15 seconds, ...; the watermark is at 85 seconds
      val expected = Seq(Row(3, 1, 2), Row(4, 2, 3), Row(5, 2, 2), Row(6, 3, 3), Row(7, 2, 2))
      assert(kept.map(_.mkString(" ")) == expected.map(_.mkString(" ")))
    }
  }

  test("hops: a row that is late for some of its windows is in the others", Slow) {
    checkWindows(seed = 1, OutputMode.Update())
  }

  test("hops: each row is in its open windows or in the table: random arrivals", Thorough) {
    for (seed <- 2 to 6; mode <- Seq(OutputMode.Append(), OutputMode.Update()))
      checkWindows(seed, mode)
  }

  test("hops: a condition on keys goes below the table, and moves no watermark", Slow) {
    val ofOne = (rows: DataFrame) => hops(rows).where("k = 1")
    val batches = Seq(
      Seq(at(1, 0), at(2, 100)),
      Seq(at(3, 5), at(4, 6, k = 2), at(5, 1000, k = 2)),
      Seq(at(6, 90), at(7, 20)),
      Seq(at(8, 300))
    )
    val without = streaming()(inDirectory { checkpoint =>
      val source = new Source("15 seconds", checkpoint)
      run(source, batches, restartBefore = Set.empty)(ofOne)
      source.answers.values.toSeq
    })
    keeping(batches)(ofOne) { (source, path) =>
      assert(lateIds(path).sorted == Seq(3L, 7L))
      assert(source.answers.values.toSeq == without && without.flatten.nonEmpty)
    }
  }

  test("labels: the late rows of both sides", Slow) {
    keeping(Seq(first, second))(labels) { (source, path) =>
      assert(source.answers.values.flatten.nonEmpty)
      val rows = late(path).select("row.source", "row.id").collect().toSeq
      assert(rows.map(_.getInt(0)).sorted == Seq(-1, -1, 0, 0))
      assert(rows.filter(_.getInt(0) == -1).map(_.getLong(1)).sorted == Seq(3L, 5L))
    }
  }

  test("each operator has its own rows, with its own columns", Slow) {
    val count = "count(*) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a"
    val two = sql(
      "SELECT id, a, sum(a) OVER (PARTITION BY x ORDER BY ts, id ROWS 2 PRECEDING) AS b " +
        s"FROM (SELECT *, $count FROM events)"
    ) _
    keeping(Seq(first, second))(two) { (_, path) =>
      val rows = late(path).select("operator", "row.id").collect().toSeq
      // the upper operator sees no late row, since the lower one has dropped them
      assert(rows.map(_.getLong(1)).sorted == Seq(3L, 5L))
      assert(rows.map(_.getInt(0)).distinct.length == 1)
    }
  }

  test("a batch that fails runs again, and replaces its files", Slow) {
    inDirectory { folder =>
      val path = s"$folder/late"
      streaming(Setting -> path) {
        val source = new Source("15 seconds", s"$folder/checkpoint")
        source.start(over)
        source.add(first)
        source.failNext()
        intercept[Exception](source.add(second))
        assert(lateIds(path).sorted == Seq(3L, 5L))
        val folderOfBatch = Path.of(path, "operator=0", "batch=2")
        val written = filesIn(folderOfBatch).filterNot(_.startsWith(".")).head
        // as if tasks had been killed, or had had other partitions
        Seq(
          written.replaceAll("\\d+.parquet", "99999.parquet"),
          s".$written.7",
          "another.parquet"
        )
          .foreach(f => Files.copy(folderOfBatch.resolve(written), folderOfBatch.resolve(f)))
        source.stop()
        source.start(over)
        source.add(Seq(at(6, 102)))
        source.stop()
        Files.delete(folderOfBatch.resolve("another.parquet")) // of another query
        assert(lateIds(path).sorted == Seq(3L, 5L))
        assert(!Files.exists(folderOfBatch.resolve(s".$written.7")))
      }
    }
  }

  private def filesIn(folder: Path): Seq[String] =
    Files.list(folder).iterator.asScala.map(_.getFileName.toString).toSeq

  test("a task that runs twice writes one file; one that fails leaves none") {
    inDirectory { path =>
      val rows = spark.range(0, 6, 1, numPartitions = 1).selectExpr("id", "timestamp_seconds(id)")
      val plan = rows.queryExecution.executedPlan
      val batch = LateBatch("query", "0", 7, watermark = 2000000L)
      val table = LateTableExec(path, plan.output(1), None, 1L, plan, Some(batch)).execute()
      intercept[SparkException](table.map[Int](_ => sys.error("as it was asked to")).count())
      assert(filesIn(Path.of(path, "operator=0", "batch=7")).isEmpty)
      Seq(1, 2).foreach(_ => assert(table.count() == 6))
      assert(lateIds(path).sorted == Seq(0L, 1L, 2L))
      val files = filesIn(Path.of(path, "operator=0", "batch=7")).filterNot(_.endsWith(".crc"))
      assert(files == Seq("query-00000.parquet"))
    }
  }

  test("off by default, and on from any start of a checkpoint", Slow) {
    inDirectory { folder =>
      val path = s"$folder/late"
      streaming() {
        val source = new Source("15 seconds", s"$folder/checkpoint")
        source.start(over)
        source.add(first)
        source.add(Seq(at(3, 5)))
        assert(!source.execution.analyzed.exists(_.isInstanceOf[LateTable]))
        source.stop()
        withSettings(Setting -> path)(source.start(over))
        source.add(Seq(at(4, 6)))
        source.stop()
        assert(lateIds(path) == Seq(4L))
        source.start(over)
        source.add(Seq(at(5, 7)))
        source.stop()
        assert(lateIds(path) == Seq(4L))
      }
    }
  }

  test("columns of one name are numbered") {
    val twice = (rows: DataFrame) =>
      over(rows.select(rows.columns.toSeq.map(col) :+ expr("x + 1 AS X") :+ expr("7 AS x_2"): _*))
    withSettings("spark.sql.caseSensitive" -> "true") {
      keeping(Seq(first, second))(twice) { (_, path) =>
        val rows = late(path).select("row.x", "row.X_3", "row.x_2").orderBy("row.id").collect()
        assert(rows.toSeq == Seq(Row(9, 10, 7), Row(1, 2, 7)))
      }
    }
  }

  test("a column without a type in Parquet is refused") {
    val wide =
      (rows: DataFrame) => over(rows.withColumn("i", expr("make_interval(0, 1, 0, 0, 0, 0, 0)")))
    val error = intercept[AnalysisException] {
      keeping(Seq(first))(wide)((_, _) => ())
    }
    Seq(Setting, "the column i of type INTERVAL", "cast it below the windows")
      .foreach(words => assert(error.getMessage.contains(words)))
  }

  test("real-time mode is refused") {
    inDirectory { path =>
      streaming(Setting -> path) {
        val source = new Source("1 second", path)
        val statement = statementOf(
          over(source.frame).queryExecution.analyzed,
          OutputMode.Update(),
          Trigger.RealTime("5 minutes")
        )
        val error = intercept[AnalysisException](StreamingWrite(statement))
        Seq(Setting, "in real-time mode, which runs no operator that writes them", "unset it")
          .foreach(words => assert(error.getMessage.contains(words)))
      }
    }
  }
}

object LateTableSuite {
  val Setting = "spark.sash.stream.lateRowsPath"
}
