package io.sash.spark.streams

import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

/**
 * A query that is started on the checkpoint of another goes on, or is an error: whatever is changed
 * below its windows, down to the source.
 */
@Slow
class StreamLineageSuite extends StreamSuite {
  import StreamSuite.at

  private val GoesOn = true
  private val Fails = false

  /** The changes that are run as restarts. */
  private val Run = Set(
    "nothing",
    "what explode is of",
    "the argument in explode",
    "the array of LATERAL VIEW",
    "one side of UNION ALL",
    "the column of a static table",
    "a filter",
    "a name in between",
    "the order of columns",
    "a common table expression",
    "an aggregate below",
    "the name of a window"
  )

  /** The rows below the windows, with columns id, g (a key), ts, v (an argument). */
  private type Below = DataFrame => DataFrame

  private def rows(select: String): Below = sql(select)

  private def ofKey(g: String): Below = rows(s"SELECT id, $g AS g, ts, x AS v FROM events")

  private def ofValue(v: String): Below = rows(s"SELECT id, k AS g, ts, $v AS v FROM events")

  private def exploded(g: String, view: String = "t"): Below =
    rows(s"SELECT id, $view.g, ts, x AS v FROM events LATERAL VIEW explode($g) $view AS g")

  private def united(of: String, other: String): Below = rows(
    s"SELECT id, $of AS g, ts, x AS v FROM events UNION ALL SELECT -id, $other AS g, ts, x FROM events"
  )

  private def joined(g: String, kind: String = "JOIN", on: String = "e.k = f.j"): Below = in => {
    spark.sql("SELECT 1 AS j, 'T' AS s, 'U' AS u").createOrReplaceTempView("statics")
    rows(s"SELECT id, $g AS g, ts, x AS v FROM events e $kind statics f ON $on")(in)
  }

  private def joinedTwice(g: String): Below = in => {
    spark.range(3).selectExpr("id AS j", "id AS s").createOrReplaceTempView("statics")
    rows(
      s"""SELECT e.id, $g AS g, ts, x AS v
         |FROM events e JOIN statics f ON e.k = f.j JOIN statics h ON e.k = h.j""".stripMargin
    )(in)
  }

  private def distinct(columns: String*): Below = in => ofKey("k")(in).dropDuplicates(columns)

  private def aggregated(v: String, by: String = "k", name: String = "w"): Below = rows(
    s"""SELECT unix_micros(window_time($name)) AS id, g, window_time($name) AS ts, v FROM
       |  (SELECT window AS $name, $by AS g, $v AS v FROM events GROUP BY $by, window(ts, '10 seconds'))""".stripMargin
  )

  private def over(v: String, by: String = "k"): Below = rows(
    s"""SELECT id, k AS g, ts, v FROM
       |  (SELECT *, $v OVER (PARTITION BY $by ORDER BY ts ROWS 3 PRECEDING) AS v FROM events)""".stripMargin
  )

  private def common(g: String): Below =
    rows(s"WITH c AS (SELECT id, $g AS g, ts, x AS v FROM events) SELECT * FROM c")

  private def mapped(name: String): Below = {
    val plus = udf((x: Int) => x + 1).withName(name)
    in => ofKey("k")(in).withColumn("v", plus(col("v")))
  }

  private val changes: Seq[(String, Below, Below, Boolean)] = Seq(
    ("nothing", ofKey("k"), ofKey("k"), GoesOn),
    ("the key, in a Project", ofKey("k % 2"), ofKey("k % 3"), Fails),
    ("the key, by a Project below another", below("k + 1"), below("k + 2"), Fails),
    ("the argument's type", ofValue("x"), ofValue("cast(x AS BIGINT)"), Fails),
    ("the argument", ofValue("x"), ofValue("x + 1"), Fails),
    ("a cast that does nothing", ofValue("x"), ofValue("cast(x AS INT)"), GoesOn),
    ("the array of explode", ofKey("explode(array(s))"), ofKey("explode(array(s, s))"), Fails),
    ("what explode is of", ofKey("explode(array(k))"), ofKey("explode(array(x))"), Fails),
    (
      "the argument in explode",
      ofValue("explode(array(x))"),
      ofValue("explode(array(k))"),
      Fails
    ),
    ("the array of LATERAL VIEW", exploded("array(k)"), exploded("array(x)"), Fails),
    ("LATERAL VIEW to OUTER", exploded("array(k)"), outer("array(k)"), Fails),
    ("the position instead of the value", posed("pos"), posed("of"), Fails),
    ("the name of LATERAL VIEW", exploded("array(k)"), exploded("array(k)", "u"), GoesOn),
    ("one side of UNION ALL", united("k", "k"), united("k", "x"), Fails),
    ("the sides of UNION ALL", united("k", "x"), united("x", "k"), Fails),
    ("the column of a static table", joined("f.s"), joined("f.u"), Fails),
    ("the same column of another table", joinedTwice("f.s"), joinedTwice("h.s"), Fails),
    ("the type of a join", joined("f.s"), joined("f.s", "LEFT JOIN"), Fails),
    ("the condition of a join", joined("f.s"), joined("f.s", on = "e.k = f.j + 0"), Fails),
    ("the name of a table", joined("f.s"), joined("f.s", on = "k = j"), GoesOn),
    ("the columns of dropDuplicates", distinct("id", "ts"), distinct("id", "ts", "g"), Fails),
    ("a filter", ofKey("k"), in => ofKey("k")(in).where("v > 0"), GoesOn),
    ("another filter", ofKey("k").andThen(_.where("v > 0")), filtered("v >= 0"), GoesOn),
    ("a filter below", ofKey("k"), in => ofKey("k")(in.where("x > 0")), GoesOn),
    ("a sample", ofKey("k"), in => ofKey("k")(in.sample(0.9)), GoesOn),
    ("partitions", ofKey("k"), in => ofKey("k")(in).repartition(3), GoesOn),
    ("an alias of the rows", ofKey("k"), in => ofKey("k")(in).alias("other"), GoesOn),
    ("a name in between", named("a"), named("b"), GoesOn),
    ("the case of names", ofKey("K"), rows("SELECT ID, k AS G, TS, X AS V FROM events"), GoesOn),
    (
      "the case of a field",
      ofKey("named_struct('A', k).a"),
      ofKey("named_struct('A', k).A"),
      GoesOn
    ),
    (
      "the order of columns",
      ofKey("k"),
      rows("SELECT x AS v, ts, k AS g, id FROM events"),
      GoesOn
    ),
    (
      "a column that nobody asks for",
      ofKey("k"),
      rows("SELECT *, k AS g, x AS v FROM events"),
      GoesOn
    ),
    ("a random column", ofValue("rand()"), ofValue("rand()"), GoesOn),
    ("the name of a variable", lambda("u"), lambda("w"), GoesOn),
    ("what a lambda does", lambda("u"), lambda("u", "+ 2"), Fails),
    ("the schema of JSON", parsed("a INT"), parsed("a STRING"), Fails),
    ("a common table expression", common("k"), common("k % 2"), Fails),
    ("the same common table expression", common("k"), common("k"), GoesOn),
    ("into a common table expression", ofKey("k"), common("k"), GoesOn),
    ("a subquery", ofKey("k + (SELECT 1)"), ofKey("k + (SELECT 2)"), Fails),
    (
      "a condition in a subquery",
      ofValue("x + (SELECT max(id) FROM range(9) WHERE id < 2)"),
      ofValue("x + (SELECT max(id) FROM range(9) WHERE id < 5)"),
      Fails
    ),
    (
      "an order in a subquery",
      ofValue("x + (SELECT id FROM range(9) ORDER BY id LIMIT 1)"),
      ofValue("x + (SELECT id FROM range(9) ORDER BY id DESC LIMIT 1)"),
      Fails
    ),
    ("a function's name", mapped("f"), mapped("g"), Fails),
    ("the same function", mapped("f"), mapped("f"), GoesOn),
    ("a typed operator", typed(_ + 1), typed(_ + 1), GoesOn),
    ("another class", typed(_ + 1), in => ofKey("k")(in), Fails)
  )

  private def below(g: String): Below = rows(
    s"SELECT id, p % 2 AS g, ts, x AS v FROM (SELECT *, $g AS p FROM events)"
  )

  private def named(n: String): Below =
    rows(
      s"SELECT id, $n AS g, ts, v FROM (SELECT id, ts, k % 2 AS $n, x AS v FROM events) AS $n$n"
    )

  private def outer(of: String): Below =
    rows(s"SELECT id, g, ts, x AS v FROM events LATERAL VIEW OUTER explode($of) t AS g")

  private def posed(g: String): Below = rows(
    s"SELECT id, $g AS g, ts, x AS v FROM events LATERAL VIEW posexplode(array(k, k)) t AS pos, of"
  )

  private def filtered(by: String): Below = in => ofKey("k")(in).where(by)

  private def lambda(name: String, what: String = "+ 1"): Below =
    ofValue(s"aggregate(transform(array(x), $name -> $name $what), 0, (a, b) -> a + b)")

  private def parsed(schema: String): Below =
    ofKey(s"cast(from_json(concat('{\"a\": ', k, '}'), '$schema').a AS STRING)")

  private def typed(f: Int => Int): Below = in => {
    val events = ofKey("k")(in)
      .select("id", "g", "ts", "v")
      .as[(Long, Int, java.sql.Timestamp, Int)](
        Encoders.tuple(
          Encoders.scalaLong,
          Encoders.scalaInt,
          Encoders.TIMESTAMP,
          Encoders.scalaInt
        )
      )
    events
      .map((t: (Long, Int, java.sql.Timestamp, Int)) => (t._1, f(t._2), t._3, t._4))(
        Encoders.tuple(
          Encoders.scalaLong,
          Encoders.scalaInt,
          Encoders.TIMESTAMP,
          Encoders.scalaInt
        )
      )
      .toDF("id", "g", "ts", "v")
      .withWatermark("ts", "1 second")
  }

  /** Beside another operator with state, which is in append mode only. */
  private val stacked: Seq[(String, Below, Below, Boolean)] = Seq(
    ("an aggregate below", aggregated("max(x)"), aggregated("min(x)"), Fails),
    ("what is grouped by", aggregated("max(x)"), aggregated("max(x)", "k % 2"), Fails),
    ("the name of a window", aggregated("max(x)"), aggregated("max(x)", name = "u"), GoesOn),
    ("a window below", over("max(x)"), over("min(x)"), Fails),
    ("the partition of a window below", over("max(x)"), over("max(x)", "k % 2"), Fails),
    ("the same window below", over("max(x)"), over("max(x)"), GoesOn)
  )

  private def windows(answer: String)(below: Below): DataFrame => DataFrame = in => {
    below(in).createOrReplaceTempView("below")
    spark.sql(
      s"SELECT id, sum(v) OVER (PARTITION BY g ORDER BY ts ROWS 2 PRECEDING) AS $answer FROM below"
    )
  }

  private def hops(answer: String)(below: Below): DataFrame => DataFrame = in =>
    below(in)
      .groupBy(col("g"), window(col("ts"), "20 seconds", "10 seconds"))
      .agg(sum("v").as(answer))

  private val kinds = Seq(
    ("OVER in append mode", windows _, OutputMode.Append()),
    ("OVER in update mode", windows _, OutputMode.Update()),
    ("hops", hops _, OutputMode.Append())
  )

  private def checkTexts(
      before: DataFrame => DataFrame,
      after: DataFrame => DataFrame,
      mode: OutputMode,
      goesOn: Boolean
  ): Unit = streaming() {
    val texts = Seq(before, after).map(textOf(_, mode))
    assert((texts.head == texts.last) == goesOn, texts.mkString("\n", "\n\n", "\n"))
  }

  private def checkRestart(
      before: DataFrame => DataFrame,
      after: DataFrame => DataFrame,
      mode: OutputMode,
      goesOn: Boolean
  ): Unit =
    streaming("spark.sql.shuffle.partitions" -> "1", "spark.sash.stream.buckets" -> "1")(
      inDirectory { checkpoint =>
        val source = new Source("1 second", checkpoint, mode)
        source.start(before)
        source.add(Seq(at(1, 10), at(2, 20)))
        source.stop()
        val count = source.rows.length
        val message =
          try {
            source.start(after)
            source.add(Seq(at(4, 1000)))
            None
          } catch { case e: Exception => Some(causes(e)) }
        source.stop()
        if (goesOn) assert(message.isEmpty && source.rows.length > count)
        else {
          assert(message.nonEmpty, "it went on")
          // dropDuplicates of Spark may be the first to find a change
          assert(
            message.get.contains("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA") ||
              message.get.contains("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")
          )
          assert(source.rows.length == count)
        }
      }
    )

  private def causes(e: Throwable): String =
    Seq.unfold(e)(e => Option(e).map(e => (e, e.getCause))).map(_.getMessage).mkString("\n")

  /** A restart takes seconds: each kind of change in one kind of query, or all of them, if asked. */
  private val isToRunAll = sys.env.get("SASH_TEST_RESTARTS").contains("all")

  /** Spark samples no stream, and refuses a watermark above another one when the query starts. */
  private val OnlyTexts = Set("a sample", "a typed operator", "another class")

  private def canRun(name: String, mode: OutputMode): Boolean =
    mode == OutputMode.Append() || !name.contains("dropDuplicates")

  for {
    ((name, before, after, goesOn), i) <- changes.zipWithIndex
    ((kind, over, mode), j) <- kinds.zipWithIndex
    if canRun(name, mode)
  } {
    val what = s"$kind: $name ${if (goesOn) "may change" else "may not change"}"
    test(what)(checkTexts(over("a")(before), over("b")(after), mode, goesOn))
    if (!OnlyTexts(name) && (isToRunAll || (Run(name) && i % kinds.length == j)))
      test(s"$what, on one checkpoint")(
        checkRestart(over("a")(before), over("b")(after), mode, goesOn)
      )
  }

  for {
    (name, before, after, goesOn) <- stacked
    (kind, over) <- Seq(("OVER", windows _), ("hops", hops _))
  } {
    val what = s"$kind above: $name ${if (goesOn) "may change" else "may not change"}"
    val mode = OutputMode.Append()
    test(what)(checkTexts(over("a")(before), over("b")(after), mode, goesOn))
    if (isToRunAll || Run(name))
      test(s"$what, on one checkpoint")(
        checkRestart(over("a")(before), over("b")(after), mode, goesOn)
      )
  }

  for {
    v <- Seq("cast(x AS DECIMAL(10, 2)) / 3", "size(array(x))", "array(x)[0]", "round(x + d, 1)")
    (kind, over, mode) <- kinds
  } test(s"$kind: ANSI mode may change: $v") {
    val texts = Seq("true", "false").map { ansi =>
      streaming("spark.sql.ansi.enabled" -> ansi)(textOf(over("a")(ofValue(v)), mode))
    }
    assert(texts.head == texts.last, texts.mkString("\n", "\n\n", "\n"))
  }
}
