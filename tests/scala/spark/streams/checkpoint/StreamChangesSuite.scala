package io.sash.spark.streams.checkpoint

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}

/**
 * A query may change below its windows, and goes on with the batch's answers; with other windows
 * it is an error. The state needs the names and the types of the columns that windows read, and
 * the windows. A row keeps the values that it had when it came.
 */
@Slow
class StreamChangesSuite extends StreamSuite {
  import StreamSuite.at

  /** The rows below the windows, with columns id, g (a key), ts, v (an argument). */
  private type Below = DataFrame => DataFrame

  private def rows(select: String): Below = sql(select)

  private def ofKey(g: String): Below = rows(s"SELECT id, $g AS g, ts, x AS v FROM events")

  private def ofValue(v: String): Below = rows(s"SELECT id, k AS g, ts, $v AS v FROM events")

  private val base: Below = ofKey("k")

  private def joined(on: String): Below = in => {
    spark.sql("SELECT 1 AS j, 5 AS u UNION ALL SELECT 2, 6").createOrReplaceTempView("statics")
    rows(s"SELECT id, e.k AS g, ts, x + u AS v FROM events e JOIN statics f ON $on")(in)
  }

  private def mapped(name: String): Below = {
    val plus = udf((x: Int) => x + 1).withName(name)
    in => base(in).withColumn("v", plus(col("v")))
  }

  /** Each may follow any other. */
  private val allowed: Seq[(String, Below)] = Seq(
    "nothing" -> base,
    "a filter" -> base.andThen(_.where("v > 3")),
    "another filter" -> base.andThen(_.where("v > 2")),
    "a filter below" -> (in => base(in.where("x > 3"))),
    "partitions" -> (in => base(in).repartition(3)),
    "an alias of the rows" -> (in => base(in).alias("other")),
    "the case of names" -> rows("SELECT ID, k AS G, TS, X AS V FROM events"),
    "the order of columns" -> rows("SELECT x AS v, ts, k AS g, id FROM events"),
    "a column that nobody asks for" -> rows("SELECT *, k AS g, x AS v FROM events"),
    "a common table expression" -> rows(
      "WITH c AS (SELECT id, k AS g, ts, x AS v FROM events) SELECT * FROM c"
    ),
    "a name below" -> rows(
      "SELECT id, p AS g, ts, q AS v FROM (SELECT id, ts, k AS p, x AS q FROM events)"
    ),
    "the definition of the key" -> ofKey("3 - k"),
    "the definition of the argument" -> ofValue("x + 100"),
    "a cast" -> ofValue("CAST(CAST(x AS BIGINT) * 2 AS INT)"),
    "explode" -> rows("SELECT id, explode(array(k)) AS g, ts, x AS v FROM events"),
    "LATERAL VIEW" -> rows(
      "SELECT id, t.g, ts, x AS v FROM events LATERAL VIEW explode(array(k)) t AS g"
    ),
    "a static table" -> joined("e.k = f.j"),
    "another condition of a join" -> joined("e.k = f.j + 0"),
    "a subquery" -> ofValue("x + (SELECT max(j) FROM VALUES (1), (7) AS t(j))"),
    "a random column" -> (in => base(in).withColumn("r", rand())),
    "a function" -> mapped("f"),
    "another function" -> mapped("g")
  )

  private val over = "PARTITION BY g ORDER BY ts"

  /** Each query has the answers of each other. */
  private val alike: Seq[(String, String)] = Seq(
    "nothing" -> s"avg(v) OVER ($over ROWS 2 PRECEDING) AS a, monoid_agg(v, e -> e, (x, y) -> x + y) OVER ($over ROWS 2 PRECEDING) AS b",
    "names" -> s"mean(v) OVER ($over ROWS 2 PRECEDING) AS c, monoid_agg(V, w -> w, (p, q) -> p + q, s -> s) OVER ($over ROWS 2 PRECEDING) AS d",
    "a kind" -> s"avg(v) OVER (PARTITION BY g, count_window(3) ORDER BY ts) AS a, monoid_agg(v, e -> e, (x, y) -> x + y) OVER ($over ROWS 2 PRECEDING) AS b"
  )

  private val windows =
    s"SELECT id, sum(v) OVER ($over ROWS 2 PRECEDING) AS a, max(v) OVER (PARTITION BY g ORDER BY ts " +
      "RANGE INTERVAL 20 SECONDS PRECEDING) AS b, count(DISTINCT v) OVER " +
      s"($over ROWS 3 PRECEDING) AS c FROM below"

  private val hops =
    "SELECT unix_micros(window.start) * 10 + g AS id, sum(v) AS a, stddev(v) AS b FROM below " +
      "GROUP BY g, window(ts, '40 seconds', '20 seconds')"

  private def over(select: String)(below: Below): DataFrame => DataFrame = in => {
    below(in).createOrReplaceTempView("below")
    spark.sql(select)
  }

  private def batchOf(step: Int) =
    Seq(0, 25, 15, 5).zipWithIndex.map { case (second, i) =>
      at(
        100L * step + i,
        20.0 * step + second + step / 100.0,
        k = 1 + (step + i) % 2,
        x = (7 * step + i) % 9
      )
    }

  /**
   * The steps follow each other on one checkpoint. The answers are the batch's over the rows that
   * each step has made.
   */
  private def check(mode: OutputMode, select: Int => String, steps: Seq[(String, Below)]): Unit =
    streaming("spark.sql.shuffle.partitions" -> "1", "spark.sash.stream.buckets" -> "2")(
      inDirectory { checkpoint =>
        val source = new Source("30 seconds", checkpoint, mode)
        val ends = at(-1, 1e6)
        steps.zipWithIndex.foreach { case ((name, below), i) =>
          withClue(name) {
            source.start(over(select(i))(below))
            source.add(batchOf(i) ++ Option.when(i == steps.length - 1)(ends))
            source.stop()
          }
        }
        val made = steps.zipWithIndex.map { case ((_, below), i) =>
          below(spark.createDataFrame(batchOf(i))).select("id", "g", "ts", "v")
        }
        made.reduce(_ unionByName _).createOrReplaceTempView("below")
        val expected = spark.sql(select(0)).collect().map(r => r.getLong(0) -> r.toSeq).toMap
        val answers = source.rows.map(r => r.getLong(0) -> r.toSeq).filter(_._1 >= 0).toMap
        assert(answers.keySet == expected.keySet && expected.size > 2 * steps.length)
        val wrong = answers.filterNot { case (id, a) => isAlike(a, expected(id)) }
        assert(wrong.isEmpty, wrong.map { case (id, a) => a -> expected(id) })
      }
    )

  private def isAlike(some: Seq[Any], others: Seq[Any]): Boolean = some.zip(others).forall {
    case (a: Double, b: Double) => math.abs(a - b) < 1e-9
    case (a, b)                 => a == b
  }

  test("OVER goes on after each change below, in append mode", Thorough) {
    check(OutputMode.Append(), _ => windows, allowed)
  }

  // each change once, in one of three queries
  test("OVER goes on after changes below, in append mode") {
    check(OutputMode.Append(), _ => windows, everyThird(2))
  }

  test("OVER goes on after changes below, in update mode") {
    check(OutputMode.Update(), _ => windows, everyThird(0))
  }

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update()))
    test(s"a column that may be NULL no longer, and again: $mode") {
      val values = Seq("nullif(x, 2)", "coalesce(x, 7)", "nullif(x, 5)")
      check(mode, _ => windows, values.map(v => v -> ofValue(v)))
      val keys = Seq("nullif(k, 2)", "coalesce(k, 7)", "nullif(k, 1)")
      check(mode, _ => windows, keys.map(g => g -> ofKey(g)))
      check(OutputMode.Append(), _ => hops, values.map(v => v -> ofValue(v)))
    }

  test("hops go on after changes below") {
    check(OutputMode.Append(), _ => hops, everyThird(1))
  }

  private def everyThird(from: Int) = allowed.indices.collect {
    case i if i % 3 == from => allowed(i)
  }

  test("OVER goes on in other words") {
    check(
      OutputMode.Append(),
      i => s"SELECT id, ${alike(i)._2} FROM below",
      alike.map(_._1 -> base)
    )
  }

  /** Changes that no state survives, with a word of the error. */
  private val refused: Seq[(String, Below, String, String)] = Seq(
    ("the key's type", ofKey("CAST(k AS BIGINT)"), windows, "columns: g BIGINT"),
    ("the argument's type", ofValue("CAST(x AS BIGINT)"), windows, "v BIGINT"),
    (
      "the argument's name",
      rows("SELECT id, k AS g, ts, x AS w FROM events"),
      windows.replace("(v)", "(w)").replace("DISTINCT v", "DISTINCT w"),
      "sum(w) in window 0"
    ),
    ("the argument", base, windows.replace("sum(v)", "sum(v + 1)"), "sum((v + 1)) in window 0"),
    ("the key", base, windows.replace("BY g", "BY g % 2"), "partition by: (g % 2)"),
    ("the window", base, windows.replace("ROWS 2", "ROWS 4"), "rows from 4 before"),
    ("the range", base, windows.replace("INTERVAL 20", "INTERVAL 21"), "-21000000 us"),
    ("the aggregate", base, windows.replace("sum(v)", "min(v)"), "min(v) in window 0"),
    ("a shorter window", base, windows.replace("ROWS 2", "ROWS 1"), "rows from 1 before"),
    ("fewer windows", base, windows.replaceAll("count.*AS c", "1 AS c"), "windows: "),
    (
      "a function that casts to fewer digits",
      base,
      windows.replace("sum(v)", "sum(tinyint(v))"),
      "sum(CAST(v AS TINYINT)) in window 0"
    ),
    ("a column of the answer", base, windows.replace("id,", "id, v AS more, g,"), "columns"),
    (
      "a call",
      base,
      windows.replace("id,", "id, min(v) OVER w AS d,") + s" WINDOW w AS ($over)",
      "min(v)"
    )
  )

  private def textsOf(queries: (DataFrame => DataFrame)*)(mode: OutputMode): Seq[String] =
    streaming()(queries.map(textOf(_, mode)))

  for ((name, below, select, _) <- refused) test(s"$name is told apart") {
    val texts = textsOf(over(windows)(base), over(select)(below))(OutputMode.Append())
    assert(texts.head != texts.last, texts.head)
  }

  test("the name of a lower window's answer does not matter") {
    val texts = textsOf(Seq("n", "m").map { n =>
      over(
        s"SELECT id, sum($n) OVER (PARTITION BY v ORDER BY ts ROWS 3 PRECEDING) AS a FROM " +
          s"(SELECT *, count(*) OVER (${this.over}) AS $n FROM below)"
      )(base)
    }: _*)(OutputMode.Append())
    assert(texts.head == texts.last && texts.head.contains("sum(count(1)"), texts.head)
  }

  for (
    (name, below, g) <- Seq(
      ("the key's type", ofKey("CAST(k AS BIGINT)"), hops),
      ("the aggregate", base, hops.replace("sum(v)", "min(v)")),
      ("the argument", base, hops.replace("sum(v)", "sum(v + 1)")),
      ("the key", base, hops.replace("g,", "g % 2,").replace("+ g", "")),
      ("the window", base, hops.replace("'40 s", "'60 s"))
    )
  ) test(s"hops: $name is told apart") {
    val texts = textsOf(over(hops)(base), over(g)(below))(OutputMode.Append())
    assert(texts.head != texts.last, texts.head)
  }

  for (
    v <- Seq("cast(x AS DECIMAL(10, 2)) / 3", "size(array(x))", "array(x)[0]", "round(x + d, 1)")
  )
    test(s"ANSI mode may change: $v") {
      val select = s"SELECT id, max($v) OVER (PARTITION BY k ORDER BY ts) AS a FROM events"
      val texts = Seq("true", "false").map { ansi =>
        streaming("spark.sql.ansi.enabled" -> ansi)(textOf(sql(select), OutputMode.Append()))
      }
      assert(texts.head == texts.last, texts.mkString("\n", "\n\n", "\n"))
    }

  /** The error of a start with another query on the state of `windows`. */
  private def refusal(below: Below, select: String)(change: String => Unit = _ => ()): String =
    inDirectory { checkpoint =>
      val source = new Source("1 second", checkpoint)
      source.start(over(windows)(base))
      source.add(Seq(at(1, 10), at(2, 20)))
      source.stop()
      change(checkpoint)
      val count = source.rows.length
      val error = intercept[Exception] {
        source.start(over(select)(below))
        source.add(Seq(at(4, 1000)))
      }
      source.stop()
      assert(source.rows.length == count)
      causes(error)
    }

  private def causes(e: Throwable): String =
    Seq.unfold(e)(e => Option(e).map(e => (e, e.getCause))).map(_.getMessage).mkString("\n")

  private def inError(message: String, words: String*): Unit = {
    assert(message.contains("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"))
    words.foreach(w => assert(message.contains(w)))
    assert(message.contains("with a new checkpoint location"))
  }

  for ((name, below, select, words) <- refused.take(4))
    test(s"$name is refused on the other's checkpoint") {
      streaming() {
        inError(refusal(below, select)(), words, "start the query as it was", versions)
      }
    }

  private val versions = s"begun by Sash dev on Spark ${spark.version}"

  private def rewriting(from: String, to: String)(checkpoint: String): Unit = {
    import java.nio.file.{Files, Path}
    val file = Path.of(checkpoint, "state", "0", "_sash", "windows")
    val text = Files.readString(file)
    assert(text.contains(from), text)
    Files.writeString(file, text.replace(from, to))
    Files.deleteIfExists(file.resolveSibling(".windows.crc"))
  }

  test("a state of another layout names the version that goes on with it") {
    streaming() {
      val message = refusal(base, windows)(rewriting("layout: 12", "layout: 6"))
      inError(
        message,
        "layout: 6",
        "layout: 12",
        s"; go on with Sash dev on Spark ${spark.version}, or"
      )
      assert(!message.contains("query as it was"))
      val older = refusal(base, windows)(rewriting("\nbegun by: ", "\nmore: "))
      assert(older.contains("an earlier version of Sash"))
    }
  }

  test("a state of another recipe names the version that goes on with it") {
    streaming() {
      val message = refusal(base, windows)(rewriting("recipe 1 (BIGINT", "recipe 0 (BIGINT"))
      inError(message, "recipe 0 (BIGINT", versions, "; go on with Sash dev on Spark")
    }
  }

  test("a state whose description is gone is refused") {
    streaming() {
      val message = refusal(base, windows.replace("sum(v)", "max(v)")) { checkpoint =>
        new java.io.File(checkpoint, "state/0/_sash/windows").delete()
        ()
      }
      inError(message, "state/0/_sash/windows is gone", "restore that file")
    }
  }

  test("settings that a state depends on: the error says how to set them") {
    val byDate = "PARTITION BY date(ts) ORDER BY ts ROWS 2 PRECEDING"
    def after(over: String)(settings: (String, String)*): String =
      streaming()(inDirectory { checkpoint =>
        val select = s"SELECT id, sum(v) OVER ($over) AS a FROM below"
        val source = new Source("1 second", checkpoint)
        source.start(this.over(select)(base))
        source.add(Seq(at(1, 10), at(2, 20)))
        source.stop()
        val error = intercept[Exception] {
          withSettings(settings: _*) {
            source.start(this.over(select)(base))
            source.add(Seq(at(4, 1000)))
          }
        }
        source.stop()
        causes(error)
      })
    inError(
      after(byDate)("spark.sash.stream.buckets" -> "4"),
      "; set spark.sash.stream.buckets to 8, or"
    )
    for (zoned <- Seq(byDate, "PARTITION BY g, delta_window(ts, INTERVAL 1 DAY) ORDER BY ts"))
      inError(
        after(zoned)("spark.sql.session.timeZone" -> "Asia/Tokyo"),
        s"; set spark.sql.session.timeZone to ${spark.sessionState.conf.sessionLocalTimeZone}, or"
      )
  }

  test("another output mode: the error says which one it was") {
    withSource("1 second") { source =>
      source.start(over(windows)(base))
      source.add(Seq(at(1, 10)))
      source.stop()
      val error = intercept[Exception] {
        source.start(over(windows)(base), OutputMode.Update())
        source.add(Seq(at(4, 1000)))
      }
      source.stop()
      inError(causes(error), "; write in append mode, or")
    }
  }

  /** Runs each query over its rows on one checkpoint, and returns all answers. */
  private def runAll(versions: (DataFrame => DataFrame, Seq[Event])*): Map[Long, Any] =
    streaming()(inDirectory { checkpoint =>
      val source = new Source("5 seconds", checkpoint)
      versions.foreach { case (query, rows) =>
        source.start(query)
        try source.add(rows)
        finally source.stop()
      }
      source.rows.map(r => r.getLong(0) -> r.get(1)).toMap
    })

  private def tens(from: Int, until: Int): Seq[Event] =
    (from until until).map(i => at(i.toLong, 10.0 * i, k = 1, x = i))

  private val pairs: DataFrame => DataFrame =
    sql("SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) AS a FROM events")

  /** The same query, which begins with the rows of a table until a second. */
  private def begun(until: Int): DataFrame => DataFrame = rows => {
    val table = spark.createDataFrame(tens(1, 100))
    val past = table.where(s"sash.history_until(ts, timestamp_seconds(1600000000 + $until))")
    pairs(rows.unionByName(past))
  }

  test("the history is left out once the watermark has passed its end") {
    val answers = runAll(begun(15) -> tens(2, 6), pairs -> (tens(6, 7) :+ at(0, 1000, k = 2)))
    assert(answers - 0L == Map(2L -> 3L, 3L -> 5L, 4L -> 7L, 5L -> 9L, 6L -> 11L))
    val error =
      intercept[Exception](runAll(begun(29) -> tens(3, 4), pairs -> tens(4, 5)))
    inError(causes(error), "give the history until 2020-09-13T12:27:09Z")
  }

  test("another history is another query") {
    Seq(begun(15) -> begun(90), pairs -> begun(90)).foreach { case (first, second) =>
      val error = intercept[Exception](runAll(first -> tens(2, 6), second -> tens(6, 7)))
      inError(causes(error), "history until")
    }
  }

  test("before the first batch has been committed another query may begin") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("5 seconds", checkpoint)
      source.start(over(windows)(base))
      source.failNext()
      intercept[Exception](source.add(tens(1, 3)))
      source.stop()
      source.start(pairs)
      source.add(at(0, 1000, k = 2) +: tens(3, 4))
      source.stop()
      assert(source.rows.map(r => r.getLong(0) -> r.get(1)).contains(2L -> 3L))
    })
  }
}
