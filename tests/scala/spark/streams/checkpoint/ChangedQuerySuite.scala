package io.sash.spark.streams.checkpoint

import java.io.File
import java.sql.Timestamp
import java.time.Instant

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.streams.state.SmallChunks

/** A query that goes on with the checkpoint of another, as if it had always run. */
@Slow
class ChangedQuerySuite extends StreamSuite {
  import StreamSuite._

  private val Delay = 20

  private def select(columns: Seq[String]): String =
    columns.zipWithIndex
      .map { case (c, i) => s"$c AS a$i" }
      .mkString("SELECT id, ts, ", ", ", " FROM events")

  /** The answers of each version of a query, which has two batches. */
  private def answers(
      mode: OutputMode,
      versions: Seq[String],
      batches: Seq[Seq[Event]],
      settings: (String, String)*
  ): Seq[Seq[Row]] = streaming(settings: _*)(inDirectory { checkpoint =>
    val source = new Source(s"$Delay seconds", checkpoint, mode)
    var seen = 0
    val all = versions.zip(batches.grouped(2)).map { case (version, batches) =>
      source.start(sql(version))
      batches.foreach(source.add)
      source.stop()
      val rows = source.rows.drop(seen)
      seen += rows.length
      rows
    }
    val files = new File(checkpoint, "state/0/_sash").list.count(_.startsWith("windows"))
    assert(files == versions.distinct.length, "vacuous: no state was changed")
    all
  })

  /** Each version's answers are the batch's. */
  private def check(
      mode: OutputMode,
      versions: Seq[String],
      seed: Long,
      isLast: Boolean = false,
      settings: Seq[(String, String)] = Nil
  ): Unit = {
    val input = batches(seed, 2 * versions.length, size = 30, jitterSeconds = 25, keys = 3)
      .map(_.map(apart))
    val found = SmallChunks(answers(mode, versions, input, settings: _*))
    val (inTime, _) = onTime(input, Delay)
    val expected = versions.map(v => byId(sql(v)(spark.createDataFrame(inTime)).collect().toSeq))
    val last = found.indices.flatMap(v => found(v).map(r => r.getLong(0) -> (v, r.toSeq))).toMap
    if (mode == OutputMode.Append()) assert(last.size == found.map(_.length).sum, "twice")
    last.foreach { case (id, (v, row)) =>
      if (!isLast || v == versions.length - 1) assert(row == expected(v)(id), versions(v))
    }
    val lastOnly = onTime(input.takeRight(2), Delay)._1
    val alone = byId(sql(versions.last)(spark.createDataFrame(lastOnly)).collect().toSeq)
    assert(
      found.last.exists(r => !alone.get(r.getLong(0)).contains(r.toSeq)),
      "vacuous: no answer needs the state"
    )
  }

  /** At a time of its own: some kinds of window tell rows of one time apart. */
  private def apart(e: Event): Event =
    e.copy(ts = e.ts.map(t => new Timestamp(t.getTime + e.id)))

  private def byId(rows: Seq[Row]): Map[Long, Seq[Any]] =
    rows.map(r => r.getLong(0) -> r.toSeq).toMap

  private val T = "OVER (PARTITION BY k ORDER BY ts"

  private val columns = Seq(
    s"sum(x) $T RANGE INTERVAL 25 SECONDS PRECEDING)",
    s"avg(d) $T RANGE INTERVAL 25 SECONDS PRECEDING)",
    s"max(x) $T RANGE INTERVAL 12 SECONDS PRECEDING)",
    s"sum(x) $T RANGE INTERVAL 12 SECONDS PRECEDING)",
    s"median(x) $T RANGE INTERVAL 30 SECONDS PRECEDING)",
    s"percentile(x, 0.9) $T RANGE INTERVAL 30 SECONDS PRECEDING)",
    s"count(DISTINCT x) $T RANGE INTERVAL 25 SECONDS PRECEDING)",
    s"count(x) $T)",
    s"sum(x) $T)",
    s"count(*) OVER (PARTITION BY k, gap_window(INTERVAL 9 SECONDS) ORDER BY ts)",
    s"sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 4 SECONDS) ORDER BY ts)",
    s"count(*) OVER (PARTITION BY k, groups_window(3) ORDER BY ts)",
    s"sum(x) OVER (PARTITION BY k, groups_window(5) ORDER BY ts)",
    s"count(*) OVER (PARTITION BY k, delta_window(d, 60) ORDER BY ts)",
    s"max(x) OVER (PARTITION BY k, delta_window(d, 60) ORDER BY ts)",
    s"min(x) $T RANGE BETWEEN INTERVAL 30 SECONDS PRECEDING AND INTERVAL 5 SECONDS PRECEDING)",
    s"sum(x) $T ROWS 9 PRECEDING)",
    s"max(d) $T ROWS 9 PRECEDING)",
    s"count(x) $T ROWS BETWEEN 9 PRECEDING AND 3 PRECEDING)",
    s"sum(x) $T RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 5 SECONDS PRECEDING)",
    s"count(d) $T ROWS BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING)",
    s"lag(x, 2) $T)",
    s"sum(x) $T ROWS 5 PRECEDING)",
    s"sum(x) $T ROWS UNBOUNDED PRECEDING)",
    s"row_number() $T)",
    s"median(x) $T ROWS 9 PRECEDING)",
    s"count(DISTINCT x) $T ROWS 20 PRECEDING)",
    s"collect_list(id) $T ROWS 7 PRECEDING)",
    s"sum(x) $T ROWS 40 PRECEDING)",
    "sum(x) OVER (PARTITION BY k, window_and(count_window(6), gap_window(INTERVAL 9 SECONDS)) " +
      "ORDER BY ts)"
  )

  private val modes = Seq(OutputMode.Append(), OutputMode.Update())

  /** Columns of a query, the same with fewer, and with still fewer, in any order. */
  private def fewer(seed: Long): Seq[String] = {
    val random = new Random(seed)
    Seq(9, 5, 2).scanLeft(columns)((all, n) => random.shuffle(all).take(n)).tail.map(select)
  }

  for (mode <- modes; seed <- 1 to Thorough.times(8))
    test(s"columns that are left out and change places, in $mode mode: $seed") {
      check(mode, fewer(seed), seed)
    }

  for (mode <- modes) {
    test(s"shorter spans, in $mode mode") {
      def ofTime(spans: Int*) =
        select(spans.map(s => s"sum(x) $T RANGE INTERVAL $s SECONDS PRECEDING)"))
      def ofRows(spans: Int*) = select(spans.map(s => s"max(x) $T ROWS $s PRECEDING)"))
      check(mode, Seq(ofTime(25), ofTime(20, 12), ofTime(3)), seed = 5)
      check(mode, Seq(ofRows(9), ofRows(9, 7), ofRows(2, 4)), seed = 6)
    }
  }

  for (mode <- modes) test(s"two windows of one aggregate change places, in $mode mode") {
    // values of sessions and of rows are in trees of their own
    val medians = Seq(
      s"median(x) $T ROWS 9 PRECEDING)",
      "median(x) OVER (PARTITION BY k, gap_window(INTERVAL 30 SECONDS) ORDER BY ts)"
    )
    val versions = Seq(medians, medians.reverse, medians.drop(1)).map(select)
    check(mode, versions, seed = 8)
    check(mode, versions.reverse.take(1) ++ versions.take(1), seed = 9, isLast = true, Incomplete)
  }

  private def millis(e: Event): Long = e.ts.fold(Long.MinValue)(_.getTime)

  /**
   * Each version begins with a table of all rows up to a time, `behind` before the last row that
   * the stream has read, and answers the rows behind the answers of the version before.
   */
  private def checkHistory(
      mode: OutputMode,
      versions: Seq[String],
      seed: Long,
      behind: Long,
      fails: Boolean,
      jitterSeconds: Int = 25
  ): Unit = streaming()(inDirectory { checkpoint =>
    val input = batches(seed, 2 * versions.length, size = 30, jitterSeconds, keys = 3)
      .map(_.map(apart))
    val source = new Source(s"$Delay seconds", checkpoint, mode)
    var answered = Long.MinValue
    var seen = 0
    versions.zip(input.grouped(2)).zipWithIndex.foreach { case ((version, batches), v) =>
      val before = input.take(2 * v).flatten
      val until = before.map(millis).maxOption.map(_ - behind * 1000L).getOrElse(0L)
      val table = input.flatten.filter(e => millis(e) > 0 && millis(e) <= until)
      def start() = source.start { rows =>
        if (v == 0) sql(version)(rows)
        else {
          val past = spark
            .createDataFrame(table)
            .where(s"sash.history_until(ts, timestamp_millis($until))")
          sql(version)(rows.unionByName(past))
        }
      }
      start()
      if (fails) {
        source.failNext()
        intercept[Exception](source.add(batches.head))
        start()
        source.add(Nil)
      } else source.add(batches.head)
      source.stop()
      start()
      source.add(batches(1))
      source.stop()
      val (inTime, watermark) = onTime(input.take(2 * v + 2), Delay)
      val rows = table ++ inTime.filter(millis(_) > until)
      val expected = byId(sql(version)(spark.createDataFrame(rows)).collect().toSeq)
      val found = source.rows.drop(seen)
      seen += found.length
      byId(found).values
        .map(Row.fromSeq)
        .foreach(r => assert(r.toSeq == expected(r.getLong(0)), s"version $v: $version"))
      val passed = math.max(watermark, until)
      val ids = expected.collect {
        case (id, Seq(_, ts: Instant, _*))
            if ts.toEpochMilli > answered &&
              (mode != OutputMode.Append() || ts.toEpochMilli <= passed) =>
          id
      }.toSeq
      if (mode == OutputMode.Append())
        assert(found.map(_.getLong(0)).sorted == ids.sorted, s"version $v")
      else assert(ids.toSet.subsetOf(source.rows.map(_.getLong(0)).toSet), s"version $v")
      answered = passed
    }
  })

  for (mode <- modes; seed <- 1 to Thorough.times(8))
    test(s"any other columns begin with a history, in $mode mode: $seed") {
      val random = new Random(seed)
      // rows that wait behind the history have the columns of all versions
      val versions = Seq
        .fill(3)(select(random.shuffle(columns).take(3)))
        .map(_.replace("id, ts", "id, ts, x, d"))
      checkHistory(mode, versions, seed, behind = seed % 3, fails = seed % 2 == 0)
    }

  private def answersOfAnswers(rows: Int, above: Int): String =
    s"""SELECT id, ts, sum(a) OVER (PARTITION BY s ORDER BY ts ROWS $above PRECEDING) AS b FROM
       | (SELECT *, sum(x) $T ROWS $rows PRECEDING) AS a FROM events)""".stripMargin

  private def hops(size: Int, aggregate: String): String =
    s"""SELECT unix_micros(window.end) * 10 + coalesce(k, 9) AS id, window.end AS ts,
       | $aggregate AS a FROM events GROUP BY k, window(ts, '$size seconds', '5 seconds')
       |""".stripMargin

  private def answersOfHops(size: Int, function: String): String =
    s"""SELECT unix_micros(ts) DIV 10 * 10 + coalesce(k, 9) AS id, ts, a,
       | $function OVER (PARTITION BY k ORDER BY ts) AS b FROM (
       |   SELECT k, window_time(window) AS ts, a FROM (
       |     SELECT k, window, sum(x) AS a FROM events
       |     GROUP BY k, window(ts, '$size seconds', '5 seconds')))""".stripMargin

  for (
    (name, versions) <- Seq(
      "windows over windows" ->
        Seq(answersOfAnswers(5, 9), answersOfAnswers(5, 7), answersOfAnswers(8, 7)),
      "windows over hops" -> Seq(
        answersOfHops(30, "row_number()"),
        answersOfHops(30, "lag(a, 2)"),
        answersOfHops(20, "row_number()")
      ),
      "hops" -> Seq(hops(30, "sum(x)"), hops(30, "max(x)"), hops(15, "max(x)"))
    );
    fails <- Seq(false, true)
  ) test(s"$name begin with a history" + (if (fails) ", after a batch that fails" else "")) {
    // a row behind the watermark is late, and yet in hops that have not ended
    val jitter = if (name.endsWith("hops")) Delay / 2 else 25
    checkHistory(OutputMode.Append(), versions, seed = 11, behind = 3, fails, jitter)
  }

  for (mode <- modes)
    test(s"a growing window whose end lags goes on, in $mode mode") {
      val ends = Seq("RANGE", "ROWS").zip(Seq("INTERVAL 5 SECONDS", "3")).map { case (of, end) =>
        s"sum(x) $T $of BETWEEN UNBOUNDED PRECEDING AND $end PRECEDING)"
      }
      val evicting = s"sum(x) $T RANGE INTERVAL 25 SECONDS PRECEDING)"
      check(mode, Seq(ends :+ evicting, ends, ends.take(1)).map(select), seed = 7)
    }

  test("all rows are answered where late rows have the watermark of rows in time") {
    // no batch without data comes between, so the last rows that have passed it wait
    val settings = Seq(
      "spark.sql.streaming.statefulOperator.allowMultiple",
      "spark.sql.streaming.noDataMicroBatches.enabled"
    ).map(_ -> "false")
    val three = sum.replace("1", "2")
    val answers = runAll(
      (ofId(sum), tens(1, 4), settings),
      (ofId(sum), tens(4, 6), settings),
      (begun(60, three), tens(7, 8), settings)
    )
    assert(answers == Seq(3 -> 6, 4 -> 9, 5 -> 12, 6 -> 15).map { case (id, a) => Seq(id, a) })
  }

  /** Runs each version over its rows, and returns the answers of the last one. */
  private def runAll(
      versions: (DataFrame => DataFrame, Seq[Event], Seq[(String, String)])*
  ): Seq[Seq[Any]] = streaming()(inDirectory { checkpoint =>
    val source = new Source("5 seconds", checkpoint)
    versions.foldLeft(Seq.empty[Seq[Any]]) { case (_, (query, rows, settings)) =>
      val seen = source.rows.length
      withSettings(settings: _*) {
        source.start(query)
        try if (rows.nonEmpty) source.add(rows)
        finally source.stop()
      }
      source.rows.drop(seen).map(_.toSeq)
    }
  })

  private val Incomplete = Seq("spark.sash.stream.newWindows" -> "incomplete")

  private def ofId(columns: String*)(rows: DataFrame): DataFrame = sql(
    columns.zipWithIndex
      .map { case (c, i) => s"$c AS a$i" }
      .mkString("SELECT id, ", ", ", " FROM events")
  )(rows)

  private def tens(from: Int, until: Int): Seq[Event] =
    (from until until).map(i => at(i.toLong, 10.0 * i, k = 1, x = i))

  test("incomplete windows begin with the rows that the state holds") {
    val of20 = s"sum(x) $T RANGE INTERVAL 20 SECONDS PRECEDING)"
    val answers = runAll(
      (ofId(of20), tens(1, 6) :+ at(0, 56, k = 2), Nil),
      (
        ofId(
          of20,
          of20.replace("20", "90"),
          of20.replace("sum", "max"),
          s"count(*) $T)",
          s"collect_list(id) $T ROWS 9 PRECEDING)",
          s"sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 15 SECONDS) ORDER BY ts)"
        ),
        tens(6, 9) :+ at(0, 1000, k = 2),
        Incomplete
      )
    ).filter(_.head != 0L)
    // the rows 1 to 5 are in windows, and 3 to 5 are still there
    assert(
      answers == Seq(
        Seq[Any](6L, 15L, 18L, 6, 1L, Seq(6L), 6L),
        Seq[Any](7L, 18L, 25L, 7, 2L, Seq(6L, 7L), 13L),
        Seq[Any](8L, 21L, 33L, 8, 3L, Seq(6L, 7L, 8L), 21L)
      )
    )
  }

  test("rows that wait have NULL in a new column") {
    val sum = s"sum(x) $T ROWS 1 PRECEDING)"
    val answers = runAll(
      (ofId(sum), tens(1, 3), Nil),
      (ofId(sum, "s", s"max(s) $T)"), tens(3, 4) :+ at(0, 1000, k = 2), Incomplete)
    ).filter(_.head != 0L)
    val word = tens(3, 4).head.s
    assert(answers == Seq(Seq[Any](2L, 3L, null, null), Seq[Any](3L, 5L, word, word)))
  }

  test("a column that is never NULL is not new for rows that wait") {
    val sum = s"sum(x) $T ROWS 1 PRECEDING)"
    val error = intercept[Exception](
      runAll((ofId(sum), tens(1, 3), Nil), (ofId(sum, "d"), tens(3, 4), Incomplete))
    )
    assert(causes(error).contains("rows that wait have no a1, which is never NULL"))
  }

  private def causes(e: Throwable): String =
    Seq.unfold(e)(e => Option(e).map(e => (e, e.getCause))).map(_.getMessage).mkString("\n")

  private def begun(until: Int, columns: String*)(rows: DataFrame): DataFrame = {
    val table = spark.createDataFrame(tens(1, 100))
    val past = table.where(s"sash.history_until(ts, timestamp_seconds(1600000000 + $until))")
    ofId(columns: _*)(rows.unionByName(past))
  }

  private val sum = s"sum(x) $T ROWS 1 PRECEDING)"

  for (
    (name, query, settings, words) <- Seq[
      (String, DataFrame => DataFrame, Seq[(String, String)], Seq[String])
    ](
      (
        "a new aggregate",
        ofId(sum, sum.replace("sum", "max")),
        Nil,
        Seq("the state lacks max(x) over rows from 1 before", "newWindows to incomplete")
      ),
      ("a longer span", ofId(sum.replace("1", "2")), Nil, Seq("sum(x) over rows from 2 before")),
      ("a column", ofId(sum, "s"), Nil, Seq("the state lacks the column a1")),
      (
        "a column with the name of the buckets",
        rows =>
          sql(s"SELECT id, $sum AS a0, bucket FROM events")(
            rows.withColumn("bucket", rows("x").cast("int"))
          ),
        Nil,
        Seq("the state lacks the column bucket")
      ),
      (
        "another key",
        ofId(sum.replace("BY k", "BY s")),
        Incomplete,
        Seq("give the rows of the past with warm_start", "start the query as it was")
      ),
      (
        "a key of another type",
        rows => ofId(sum)(rows.withColumn("k", rows("k").cast("string"))),
        Incomplete,
        Seq("give the rows of the past with warm_start", "start the query as it was")
      ),
      (
        "a history that ends before rows of another key",
        begun(46, sum.replace("BY k", "BY x")),
        Nil,
        Seq("rows that wait until 2020-09-13T12:27:30Z", "another PARTITION BY")
      ),
      (
        "a history that ends before rows in another order",
        begun(46, sum.replace("BY ts", "BY ts, x")),
        Nil,
        Seq("rows that wait until 2020-09-13T12:27:30Z", "another PARTITION BY or ORDER BY")
      ),
      (
        "a window that looks ahead",
        ofId(s"sum(x) $T ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"),
        Incomplete,
        Seq("answers: 1 rows and 0 groups later")
      ),
      (
        "a history that ends too early",
        begun(40, sum.replace("1", "2")),
        Nil,
        Seq("a history that ends after the last row", "2020-09-13T12:27:25Z")
      ),
      (
        "a history that ends before rows that lack a column",
        begun(46, sum, "s"),
        Nil,
        Seq("rows that wait until 2020-09-13T12:27:30Z")
      ),
      (
        "other buckets, with a history",
        begun(99, sum),
        Seq("spark.sash.stream.buckets" -> "16"),
        Seq("set spark.sash.stream.buckets to 8")
      )
    )
  ) test(s"$name is refused") {
    val error =
      intercept[Exception](runAll((ofId(sum), tens(1, 6), Nil), (query, tens(6, 7), settings)))
    words.foreach(w => assert(causes(error).contains(w)))
  }

  test("a function that casts to fewer digits is another argument") {
    def many(of: String) = s"count_if($of > 1) $T ROWS 9 PRECEDING)"
    val error = intercept[Exception](
      runAll(
        (ofId(many("int(d)"), "d"), tens(1, 6), Nil),
        (ofId(many("d"), "d"), tens(6, 7), Nil)
      )
    )
    assert(causes(error).contains("aggregates: count_if((CAST(d AS INT) > 1))"))
  }

  test("windows go on where others that depend on the time zone go and come") {
    def in(zone: String) = Seq("spark.sql.session.timeZone" -> zone)
    val day = sum.replace("ROWS 1", "RANGE INTERVAL 1 DAY")
    def last(zone: String) = runAll(
      (ofId(sum, day), tens(1, 6), in("America/New_York")),
      (ofId(sum), tens(6, 7), in("America/New_York")),
      (ofId(sum, day), tens(7, 8) :+ at(0, 1000, k = 2), in(zone) ++ Incomplete)
    )
    assert(last("America/New_York").map(_.take(2)).contains(Seq[Any](7L, 13L)))
    val error = intercept[Exception](last("Asia/Tokyo"))
    assert(causes(error).contains("time zone: Asia/Tokyo"))
  }

  test("after a changed query has failed in its first batch, the query before goes on") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("5 seconds", checkpoint)
      def run(columns: String*)(rows: Seq[Event]): Unit = {
        source.start(ofId(columns: _*))
        try source.add(rows)
        finally source.stop()
      }
      def files = new File(checkpoint, "state/0/_sash").list.filter(_.startsWith("windows"))
      val max = sum.replace("sum", "max")
      run(sum, max)(tens(1, 6))
      source.failNext()
      intercept[Exception](run(sum)(tens(6, 7)))
      assert(files.length == 2)
      run(sum, max)(tens(7, 8))
      assert(files.length == 1)
      run(max)(tens(8, 9) :+ at(0, 1000, k = 2))
      val last = source.rows.map(r => r.getLong(0) -> r.toSeq.tail).toMap
      assert(last(6L) == Seq[Any](11L, 6) && last(8L) == Seq(8))
    })
  }

  test("no history begins with a batch that the query before has run and not committed") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("5 seconds", checkpoint)
      def run(query: DataFrame => DataFrame)(rows: Seq[Event]): Unit = {
        source.start(query)
        try source.add(rows)
        finally source.stop()
      }
      run(ofId(sum))(tens(1, 6))
      source.failNext()
      intercept[Exception](run(ofId(sum))(tens(6, 7)))
      val three = sum.replace("1", "2")
      val error = intercept[Exception](run(begun(99, three))(Nil))
      assert(causes(error).contains("start the query as it was once more"))
      run(ofId(sum))(Nil)
      run(begun(99, three))(tens(10, 11) :+ at(0, 1000, k = 2))
      val answers = source.rows.map(r => r.getLong(0) -> r.getLong(1)).toMap
      assert(answers(6L) == 15L && answers(9L) == 24L && answers(10L) == 27L)
    })
  }

  test("a changed query may be given a later history again") {
    val three = sum.replace("1", "2")
    val answers = runAll(
      (ofId(sum), tens(1, 6), Nil),
      (begun(60, three), tens(6, 8), Nil),
      (begun(90, three), tens(8, 12) :+ at(0, 1000, k = 2), Nil)
    )
    val expected = Seq(7 -> 18, 8 -> 21, 9 -> 24, 10 -> 27, 11 -> 30)
    // the second version has answered the rows until its watermark
    assert(
      answers.filter(_.head != 0L) == expected.map { case (id, a) => Seq(id.toLong, a.toLong) }
    )
    val error = intercept[Exception](
      runAll((begun(15, sum), tens(2, 6), Nil), (begun(90, sum), tens(6, 7), Nil))
    )
    assert(causes(error).contains("give the history until 2020-09-13T12:26:55Z"))
  }

  test("the history is left out once the watermark has passed its end") {
    val answers = runAll(
      (begun(15, sum), tens(2, 6), Nil),
      (ofId(sum), tens(6, 7) :+ at(0, 1000, k = 2), Nil)
    )
    assert(answers.filter(_.head != 0L) == Seq(Seq(5L, 9L), Seq(6L, 11L)))
    val error =
      intercept[Exception](
        runAll((begun(29, sum), tens(3, 4), Nil), (ofId(sum), tens(4, 5), Nil))
      )
    assert(causes(error).contains("history until"))
  }
}
