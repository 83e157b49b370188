package io.sash.spark.lateral

import scala.util.Random

import org.apache.spark.sql.Row

import org.scalatest.tagobjects.Slow

import io.sash.spark.StreamSuite
import io.sash.spark.aggregates.AsOfTimeSuite.{agree, average, Held}

/** Aggregates over time as of the end of the label's range, beside their definitions. */
class AsOfLabelSuite extends StreamSuite with LateralSuite {
  import StreamSuite.batches

  private val half = 5.0

  private def one(call: String, where: String = "e.t < l.t"): Any = spark
    .sql(
      s"""SELECT (SELECT $call FROM (SELECT *, lag(x) IGNORE NULLS OVER (ORDER BY t) b FROM
         |  VALUES (0, 10.0D), (2, 50), (8, 0), (12, 6), (14, 9), (21, NULL) AS v(t, x)) e
         |  WHERE e.t >= l.t - 10 AND $where)
         |FROM VALUES (21) AS l(t)""".stripMargin
    )
    .head()
    .get(0)

  test("the last value is older than the label") {
    assert(one("time_weighted_avg(x, t, b, 10)") == 7.5)
    val sum = 6 * math.pow(2, -9 / half) + 9 * math.pow(2, -7 / half)
    assert(agree(Some(one("decayed_sum(x, t, 5)").asInstanceOf[Double]), Some(sum)))
    assert(math.abs(sum - 5.13) < 0.01)
  }

  private val random = new Random(7)

  private def create(): Unit = {
    val session = spark
    import session.implicits._
    def maybe[T](percent: Int)(value: => T) =
      if (random.nextInt(100) < percent) Some(value) else None
    (0 until 200)
      .map { id =>
        (id, random.nextInt(3), maybe(96)(id / 2), maybe(70)(random.nextInt(20) - 5.0))
      }
      .toDF("id", "k", "t", "x")
      .selectExpr(
        "*",
        "lag(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY t, id) AS b",
        "timestamp_seconds(t) AS s",
        "date_add(DATE'2026-03-02', t) AS d"
      )
      .localCheckpoint()
      .createOrReplaceTempView("readings")
    (0 until 80)
      .map(id => (id, random.nextInt(4), maybe(95)(random.nextInt(130))))
      .toDF("id", "k", "t")
      .selectExpr("*", "timestamp_seconds(t) AS s", "date_add(DATE'2026-03-02', t) AS d")
      .createOrReplaceTempView("labels")
  }

  /** The sum of weights of the rows of a window, or of their values times weights. */
  private def weighed(window: collection.Seq[Held], now: Option[Int])(
      weight: Int => Double,
      value: Held => Option[Double]
  ): Option[Double] = {
    val some = for { r <- window; t <- r.time; x <- value(r) } yield x * weight(now.get - t)
    Option.when(some.nonEmpty)(some.sum)
  }

  private type Model = (collection.Seq[Held], Option[Int]) => Option[Double]

  private def halved(age: Int): Double = math.pow(2, -age / half)
  private def lined(age: Int): Double = 1 - age / 40.0

  /** @param seconds a length of time as an argument */
  private def calls(time: String, seconds: Int => String): Seq[(String, Model)] = Seq(
    s"time_weighted_avg(e.x, $time, e.b, ${seconds(10)})" -> (average(_, _, Some(10))),
    s"decayed_sum(e.x, $time, ${seconds(half.toInt)})" ->
      (weighed(_, _)(halved, _.value)),
    s"decayed_count($time, ${seconds(half.toInt)})" ->
      ((rows, now) => weighed(rows, now)(halved, _ => Some(1.0)).orElse(Some(0.0))),
    s"linear_weighted_sum(e.x, $time, ${seconds(40)})" -> (weighed(_, _)(lined, _.value)),
    s"linear_weighted_avg(e.x, $time, ${seconds(40)})" -> { (rows, now) =>
      val weights = weighed(rows, now)(lined, _.value.map(_ => 1.0))
      weighed(rows, now)(lined, _.value).flatMap(s => weights.filter(_ > 0).map(s / _))
    }
  )

  /** @param ago how long before the label the range ends */
  private def checkLabels(
      range: String,
      calls: Seq[(String, Model)],
      ago: Int = 0,
      form: String = "LATERAL"
  ): Unit = withClue(s"$range: ") {
    val columns =
      calls.zipWithIndex.map { case ((c, _), i) => s"$c AS a$i" } :+
        "collect_list(struct(e.t, e.x, e.b)) AS window"
    val query = form match {
      case "LATERAL" =>
        s"SELECT l.t, f.* FROM labels l, LATERAL (SELECT ${columns.mkString(", ")} FROM " +
          s"readings e WHERE e.k = l.k AND $range) f"
      case "scalar" =>
        val asked = columns.map { c =>
          val Array(call, name) = c.split(" AS ")
          s"(SELECT $call FROM readings e WHERE e.k = l.k AND $range) AS $name"
        }
        s"SELECT l.t, ${asked.mkString(", ")} FROM labels l"
    }
    val answers = spark.sql(query)
    val rows = answers.collect()
    assert(sliding(answers).nonEmpty && !joinsPairs(answers), told(answers))
    assert(rows.length == 80 && rows.count(!_.isNullAt(1)) > 20, "vacuous")
    for (row <- rows; ((call, model), i) <- calls.zipWithIndex) {
      val window = row.getSeq[Row](calls.length + 1).map(Held.of)
      val expected = model(window, Option(row.get(0)).map(_.asInstanceOf[Int] - ago))
      val actual = Option(row.get(i + 1)).map(_.asInstanceOf[Double])
      val where = s"$call at ${row.get(0)} over $window: $actual, not $expected"
      assert(agree(actual, expected), where)
    }
  }

  private def number(n: Int): String = s"$n"
  private def seconds(n: Int): String = s"'$n seconds'"
  private def days(n: Int): String = s"'$n days'"

  test("each aggregate, in LATERAL and in a scalar subquery") {
    create()
    for (
      form <- Seq("LATERAL", "scalar");
      range <- Seq("e.t >= l.t - 10 AND e.t < l.t", "e.t > l.t - 10 AND e.t <= l.t")
    ) checkLabels(range, calls("e.t", number), form = form)
  }

  test("a range that ends before its label") {
    create()
    checkLabels("e.t BETWEEN l.t - 40 AND l.t - 30", calls("e.t", number), ago = 30)
    checkLabels(
      "e.s >= l.s - INTERVAL 40 SECONDS AND e.s < l.s - INTERVAL 30 SECONDS",
      calls("e.s", seconds),
      ago = 30
    )
  }

  test("two upper ends, one of which belongs to the range") {
    create()
    val range = "e.d >= l.d - 10 AND e.d < l.d"
    checkLabels(s"$range AND e.d <= date_add(l.d, 3)", calls("e.d", days))
    checkLabels(s"$range AND e.d <= date_sub(l.d, 3)", calls("e.d", days), ago = 3)
  }

  test("times of other types", Slow) {
    create()
    checkLabels("e.s >= l.s - INTERVAL 10 SECONDS AND e.s < l.s", calls("e.s", seconds))
    checkLabels("e.d >= l.d - 10 AND e.d < l.d", calls("e.d", days))
    checkLabels("datediff(l.d, e.d) BETWEEN 0 AND 10", calls("e.d", days))
    checkLabels(
      "l.s - e.s < INTERVAL 10 SECONDS AND l.s - e.s > INTERVAL 0 SECONDS",
      calls("e.s", seconds)
    )
    checkLabels(
      "e.d >= timestamp(l.d) - INTERVAL 10 DAYS AND e.d < timestamp(l.d)",
      calls("e.d", days)
    )
    checkLabels("e.t >= double(l.t) - 10 AND e.t < double(l.t)", calls("e.t", number))
  }

  test("a range without an upper end, and one of another time") {
    create()
    val model: Model = (rows, _) => weighed(rows, rows.flatMap(_.time).maxOption)(halved, _.value)
    for (
      range <- Seq(
        "e.t >= l.t - 10",
        "e.t + e.id >= l.t - 30 AND e.t + e.id < l.t",
        "string(e.t) < string(l.t)"
      )
    )
      checkLabels(range, Seq("decayed_sum(e.x, e.t, 5)" -> model))
  }

  test("Spark answers alike where it runs the subquery", Slow) {
    create()
    val over = calls("e.t", number).filterNot(_._1.startsWith("time")).map(_._1).mkString(", ")
    for (condition <- Seq("", "AND e.x + l.k > 3"))
      for (
        form <- Seq(
          s"SELECT l.id, f.* FROM labels l, LATERAL (SELECT $over FROM readings e WHERE " +
            s"e.k = l.k AND e.t >= l.t - 10 AND e.t < l.t $condition) f",
          s"SELECT l.id, (SELECT decayed_count(e.t, 5) FROM readings e WHERE e.k = l.k AND " +
            s"e.t >= l.t - 10 AND e.t < l.t $condition) n FROM labels l"
        )
      ) {
        val ours = sorted(spark.sql(form).collect().toSeq)
        withSettings("spark.sash.lateral.enabled" -> "false") {
          val theirs = spark.sql(form)
          assert(sorted(theirs.collect().toSeq) == ours, form)
          assert(sliding(theirs).isEmpty, "vacuous")
        }
      }
  }

  test("EXPLAIN has the call as it was written") {
    create()
    val asked = spark.sql(
      "SELECT l.id, f.a FROM labels l, LATERAL (SELECT decayed_sum(e.x, e.t, 5) AS a FROM " +
        "readings e WHERE e.k = l.k AND e.t < l.t) f"
    )
    asked.collect()
    val text = told(asked)
    assert(text.contains("slides: LATERAL (SELECT decayed_sum(e.x, e.t, 5) AS a FROM"), text)
  }

  test("on a stream", Slow)(streaming() {
    def asked(call: String) = s"round((SELECT $call FROM events e WHERE e.k = l.k AND e.ts >= " +
      "l.ts - INTERVAL 20 SECONDS AND e.ts < l.ts), 6)"
    val rows = batches(5, count = 5, size = 30, jitterSeconds = 20, keys = 3).map(_.map { e =>
      e.ts.foreach(t => t.setNanos(t.getNanos + 1000 * e.id.toInt)) // ties come in any order
      e
    })
    val columns = Seq(
      "time_weighted_avg(e.x, e.ts, e.d, '20 seconds')",
      "decayed_sum(e.x, e.ts, '5 seconds')",
      "linear_weighted_sum(e.x, e.ts, '20 seconds')"
    ).map(asked)
    checkStream(rows, delaySeconds = 15, restartBefore = Set(2))(
      sql(s"SELECT id, ${columns.mkString(", ")} FROM events l")
    )
  })
}
