package io.sash.spark.aggregates

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, StreamSuite}

/**
 * The average by time of a value that holds until the row that asks, beside a sum over each unit
 * of time.
 */
class AsOfTimeSuite extends StreamSuite {
  import AsOfTimeSuite._
  import StreamSuite.batches

  private val events =
    "VALUES (0, 10.0D), (2, 50), (8, 0), (12, 6), (14, 9), (21, NULL) AS e(t, x)"
  private val held =
    s"(SELECT *, lag(x) IGNORE NULLS OVER (ORDER BY t) AS b FROM $events)"

  private def at21(window: String, at: Int = 21): Any = spark
    .sql(
      s"SELECT a FROM (SELECT t, time_weighted_avg(x, t, b, 10) OVER ($window) AS a FROM $held)" +
        s" WHERE t = $at"
    )
    .head()
    .get(0)

  test("the last value is older than the row") {
    assert(at21("ORDER BY t RANGE 10 PRECEDING") == 7.5)
    assert(at21("ORDER BY t ROWS 2 PRECEDING") == 7.5)
    assert(at21("ORDER BY t RANGE BETWEEN 10 PRECEDING AND 1 PRECEDING") == 7.5)
    assert(at21("PARTITION BY time_window(10, 'left') ORDER BY t") == 7.5)
    assert(at21("PARTITION BY time_window(10, 'left') ORDER BY t", at = 12) == 30.0)
  }

  test("without a span the average is until the window's last row with a value") {
    val averages = spark.sql(
      "SELECT time_weighted_avg(x, t) OVER (ORDER BY t ROWS 2 PRECEDING) FROM " +
        "VALUES (0, 6.0D), (3, 2.0D), (4, NULL), (9, NULL) AS e(t, x)"
    )
    assert(averages.collect().map(_.get(0)).toSeq == Seq[Any](null, 6.0, 6.0, null))
  }

  /** Rows with ties, gaps, and NULLs among times and values. */
  private def create(seed: Int, zeroTo: Int): Unit = {
    val random = new Random(seed)
    val session = spark
    import session.implicits._
    def maybe[T](percent: Int)(value: => T) =
      if (random.nextInt(100) < percent) Some(value) else None
    (0 until 150)
      .map { id =>
        val x = maybe(70)(random.nextInt(20) - 5.0)
        (id, random.nextInt(3), maybe(96)(random.nextInt(zeroTo)), x)
      }
      .toDF("id", "k", "t", "x")
      .selectExpr(
        "*",
        "lag(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY t, id) AS b",
        "date_add(DATE'2026-03-02', t) AS d",
        "timestamp_seconds(t) AS s",
        "double(t) / 2 AS h"
      )
      .localCheckpoint() // ties come in one order
      .createOrReplaceTempView("readings")
  }

  private def check(window: String, span: Int, of: String = "t", filter: String = "")(
      until: Option[Int] => Option[Int]
  ): Unit = withClue(s"$window, $span, $of: ") {
    val length = of match {
      case "t" => s"$span"
      case "h" => s"${span / 2.0}D"
      case "s" => s"'$span seconds'"
      case "d" => s"'$span days'"
    }
    val answers = spark.sql(
      s"""SELECT t, time_weighted_avg(x, $of, b, $length) $filter OVER w AS a,
         |  collect_list(struct(t, x, b)) $filter OVER w AS window
         |FROM readings WINDOW w AS ($window)""".stripMargin
    )
    val rows = answers.collect()
    assert(rows.length == 150 && rows.count(!_.isNullAt(1)) > 20, "vacuous")
    rows.foreach { row =>
      val window = row.getSeq[Row](2).map(Held.of)
      val now = until(Option(row.get(0)).map(_.asInstanceOf[Int]))
      val expected = average(window, now, Some(span))
      val actual = Option(row.get(1)).map(_.asInstanceOf[Double])
      assert(agree(actual, expected), s"at ${row.get(0)} over $window: $actual, not $expected")
    }
  }

  private val byTime = "PARTITION BY k ORDER BY t"
  private type Until = Option[Int] => Option[Int]
  private val row: Until = identity

  private val windows: Seq[(String, Int, Until)] = Seq(
    (s"$byTime RANGE 10 PRECEDING", 10, row),
    (s"$byTime RANGE 10 PRECEDING", 4, row),
    (s"$byTime RANGE BETWEEN 10 PRECEDING AND 1 PRECEDING", 10, row),
    (s"$byTime RANGE BETWEEN 20 PRECEDING AND 10 PRECEDING", 10, _.map(_ - 10)),
    (s"$byTime RANGE BETWEEN 20 PRECEDING AND 10 PRECEDING", 20, row),
    (s"$byTime RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING", 10, _.map(_ + 5)),
    (s"$byTime RANGE BETWEEN 2 FOLLOWING AND 8 FOLLOWING", 6, _.map(_ + 8)),
    (s"$byTime RANGE BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING", 10, row),
    (s"$byTime RANGE UNBOUNDED PRECEDING", 10, row),
    (s"$byTime ROWS 4 PRECEDING", 10, row),
    (s"$byTime ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING", 10, row),
    (s"$byTime ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", 10, row),
    (s"$byTime ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", 10, _ => None),
    (s"PARTITION BY k, time_window(10, 'left') ORDER BY t", 10, row),
    (s"PARTITION BY k, time_window(10, 'both') ORDER BY t", 10, row),
    (s"PARTITION BY k, gap_window(4) ORDER BY t", 10, row),
    (s"PARTITION BY k, groups_window(3) ORDER BY t", 10, row),
    (s"PARTITION BY k, window_exclude('current row') ORDER BY t RANGE 10 PRECEDING", 10, row)
  )

  for (((window, span, until), seed) <- windows.zipWithIndex)
    test(s"over $window, $span", Slow +: each(2): _*) {
      create(seed, if (seed % 2 == 0) 60 else 300)
      check(window, span)(until)
    }

  test("under FILTER, in other types, and in expressions of an order") {
    create(seed = 50, zeroTo = 90)
    val ten = s"$byTime RANGE 10 PRECEDING"
    check(ten, 10, filter = "FILTER (WHERE x > 0)")(row)
    for (of <- Seq("s", "d", "h")) check(s"$byTime ROWS 4 PRECEDING", 10, of)(row)
    def ofTime(of: String, from: String, to: String) =
      s"PARTITION BY k ORDER BY $of RANGE BETWEEN $from PRECEDING AND $to PRECEDING"
    val ago: Until = _.map(_ - 10)
    check(ofTime("h", "10", "5"), 10, "h")(ago)
    check(ofTime("s", "INTERVAL 20 SECONDS", "INTERVAL 10 SECONDS"), 10, "s")(ago)
    check(ofTime("d", "INTERVAL 20 DAYS", "INTERVAL 10 DAYS"), 10, "d")(ago)
    check(ofTime("d", "20", "10"), 10, "d")(ago)
    val shifted =
      "time_weighted_avg(x, t + 1, b, 10) OVER (PARTITION BY k ORDER BY t + 1 RANGE " +
        "BETWEEN 20 PRECEDING AND 10 PRECEDING)"
    val both = spark.sql(s"SELECT $shifted, ${shifted.replace("t + 1", "t")} FROM readings")
    assert(both.collect().forall(r => r.get(0) == r.get(1)))
  }

  test("where a window slides, and where it has too few rows") {
    create(seed = 51, zeroTo = 90)
    def asked(modifier: String) =
      s"time_weighted_avg(x, t, b, 10) OVER (PARTITION BY k, time_window(10)$modifier ORDER BY t)"
    for (modifier <- Seq("window_slide(7)", "window_min_periods(3)")) {
      val rows = spark
        .sql(s"SELECT ${asked(s", $modifier")}, ${asked("")} FROM readings")
        .collect()
      assert(rows.forall(r => r.isNullAt(0) || r.get(0) == r.get(1)))
      val (some, all) = (rows.count(!_.isNullAt(0)), rows.count(!_.isNullAt(1)))
      assert(some > 9 && some < all, modifier)
    }
  }

  test("it slides, and Spark's own windows answer alike") {
    create(seed = 52, zeroTo = 90)
    checkSlides(
      "SELECT id, time_weighted_avg(x, t, b, 10) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN " +
        "20 PRECEDING AND 10 PRECEDING) AS a FROM readings"
    )
  }

  /** Rows of one key do not tie: ties come in any order. */
  private def rows(seed: Long): Seq[Seq[Event]] =
    batches(seed, count = 5, size = 30, jitterSeconds = 20, keys = 3).map(_.map { e =>
      e.ts.foreach(t => t.setNanos(t.getNanos + 1000 * e.id.toInt))
      e
    })

  private def ofStream(frame: String, filter: String = ""): DataFrame => DataFrame = sql(
    s"SELECT id, round(time_weighted_avg(x, ts, d, '20 seconds') $filter OVER (PARTITION BY k " +
      s"ORDER BY ts $frame), 6) AS a FROM events"
  )

  test("a stream in append mode", Slow)(streaming() {
    checkStream(rows(3), delaySeconds = 15, restartBefore = Set(2))(
      ofStream("ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING")
    )
  })

  test("a stream in update mode", Slow) {
    checkUpdates(rows(4), delaySeconds = 15, restartBefore = Set(2))(
      ofStream("RANGE INTERVAL 20 SECONDS PRECEDING", "FILTER (WHERE x > 3)")
    )
  }
}

private[spark] object AsOfTimeSuite {

  /** A row of a window. */
  final case class Held(time: Option[Int], value: Option[Double], before: Option[Double])

  object Held {
    def of(row: Row): Held = {
      def double(i: Int) = Option(row.get(i)).map(_.asInstanceOf[Double])
      Held(Option(row.get(0)).map(_.asInstanceOf[Int]), double(1), double(2))
    }
  }

  /**
   * The average over units of time, each with the value that holds in it.
   *
   * @param now the time until which the last value holds
   */
  def average(rows: collection.Seq[Held], now: Option[Int], span: Option[Int]): Option[Double] = {
    val timed = rows.filter(_.time.nonEmpty)
    val known = timed.dropWhile(r => r.value.orElse(r.before).isEmpty)
    known.headOption.flatMap { first =>
      val (begin, end) = (first.time.get, (now ++ timed.map(_.time.get)).max)
      val from = if (first.before.isEmpty) begin else math.min(begin, end - span.getOrElse(0))
      val values = (from until end).map { unit =>
        known
          .filter(_.time.get <= unit)
          .flatMap(r => r.value.orElse(r.before))
          .lastOption
          .orElse(first.before)
          .get
      }
      Option.when(values.nonEmpty)(values.sum / values.length)
    }
  }

  def agree(actual: Option[Double], expected: Option[Double]): Boolean =
    actual.size == expected.size && actual.zip(expected).forall { case (a, e) =>
      math.abs(a - e) <= 1e-9 * math.max(1.0, math.abs(e))
    }
}
