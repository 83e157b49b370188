package io.sash.spark.aggregates

import scala.util.Random

import io.sash.spark.{SashSuite, Thorough}
import io.sash.spark.names.AllSashFunctions

/**
 * A law for each of Sash's functions: over any frame it answers as its definition does, for NaN,
 * infinite, great and least numbers, both zeros, and behind 100,000 NULLs.
 */
class ExtremeValuesSuite extends SashSuite {
  import ExtremeValuesSuite._
  import PlainAnswers.agrees

  test("each function has a call here") {
    assert(AllSashFunctions.All.map(_.name).toSet == calls(1).map(_.name).toSet)
  }

  private def answers(query: String): Seq[Any] = {
    val frame = spark.sql(query)
    assert(sliding(frame).nonEmpty)
    frame.collect().map(_.get(0)).toSeq.map {
      case x: Double if x.isNaN => "NaN"
      case x                    => x
    }
  }

  test("cusum of NaN and infinite numbers") {
    for (
      (values, expected) <- Seq[(String, Seq[Any])](
        "'NaN', '-Infinity', '1'" -> Seq("NaN", "NaN", "NaN"),
        "'Infinity', '-Infinity', '1'" -> Seq(Double.PositiveInfinity, "NaN", "NaN"),
        "'-Infinity', '2', 'Infinity'" -> Seq(0.0, 2.0, Double.PositiveInfinity),
        "'-1e308', '-1e308', '-1e308', '3'" -> Seq(0.0, 0.0, 0.0, 3.0),
        "'1', 'Infinity', '-1e308', '-1e308', '-1e308'" -> (1.0 +: Seq.fill(4)(
          Double.PositiveInfinity
        ))
      )
    )
      assert(
        answers(
          "SELECT cusum(double(x)) OVER (ORDER BY i ROWS 3 PRECEDING) FROM (SELECT posexplode(" +
            s"array($values)) AS (i, x))"
        ) == expected,
        values
      )
  }

  test("a mean by rows stays as it is while NULLs follow") {
    for (alpha <- Seq("0.5", "0.9", "0.99", "1")) {
      val means = answers(
        s"SELECT ewm_mean_by_rows(IF(id = 0, 3, NULL), $alpha) OVER (ORDER BY id ROWS 5000 PRECEDING) " +
          "FROM range(2000)"
      )
      assert(means == Seq.fill(2000)(3.0), alpha)
    }
  }

  test("a great value whose weight is too small for a double") {
    val sums = answers(
      "SELECT decayed_sum(x, t, 1) OVER (ORDER BY t ROWS 9 PRECEDING) FROM VALUES (0, 1e300D), " +
        "(1100, 0D), (1200, NULL), (1e9, double('Infinity')), (3e9, 1D) AS r(t, x)"
    )
    def halved(times: Double) = 1e300 * math.pow(2, -times / 2) * math.pow(2, -times / 2)
    for ((sum: Double, expected) <- sums.zip(Seq(1e300, halved(1100), halved(1200))))
      assert(math.abs(sum / expected - 1) < 1e-9)
    assert(sums.drop(3) == Seq.fill(2)(Double.PositiveInfinity))
  }

  /** Partitions of another mix of values each. */
  private def readings(seed: Long, rows: Int): Map[Long, Seq[Reading]] = {
    val random = new Random(seed)
    Mixes.zipWithIndex.map { case (mix, k) =>
      var time = 0L
      val values = Seq.fill(rows)(mix(random.nextInt(mix.length)))
      val all = values.zip(None +: values).zipWithIndex.map { case ((x, before), i) =>
        time += 1 + random.nextInt(9)
        Reading(i.toLong, time, x, before)
      }
      k.toLong -> all
    }.toMap
  }

  private def create(partitions: Map[Long, Seq[Reading]]): Unit = {
    val session = spark
    import session.implicits._
    (for ((k, rows) <- partitions.toSeq; r <- rows) yield (k, r.id, r.time, r.value, r.before))
      .toDF("k", "id", "t", "x", "p")
      .selectExpr("*", "t div 8 AS u", "timestamp_seconds(t) AS s")
      .createOrReplaceTempView("extreme")
  }

  /**
   * @param frame the frame in SQL
   * @param window the rows of a row's window, from its partition and its place there
   * @param ranOn whether Sash's operator has to run
   */
  private def check(
      partitions: Map[Long, Seq[Reading]],
      frame: String,
      calls: Seq[Call],
      rowsOf: String = "true",
      ranOn: Boolean = true
  )(window: (Seq[Reading], Int) => Seq[Reading]): Unit = {
    val columns = calls.map(c => s"${c.text} OVER w")
    val answers = spark.sql(
      s"""SELECT * FROM (SELECT k, id, ${columns.zipWithIndex
          .map { case (c, i) => s"$c AS c$i" }
          .mkString(", ")} FROM extreme
         |WINDOW w AS (PARTITION BY k ORDER BY t $frame)) WHERE $rowsOf""".stripMargin
    )
    val rows = answers.collect()
    assert(rows.nonEmpty && (sliding(answers).nonEmpty || !ranOn))
    expectNone(rows.toSeq.flatMap { row =>
      val (of, at) = (partitions(row.getLong(0)), row.getLong(1).toInt)
      complaints(row.toSeq.drop(2), calls, window(of, at), of(at), frame)
    })
  }

  /** The wrong answers, by call. */
  private def complaints(
      answers: Seq[Any],
      calls: Seq[Call],
      window: Seq[Reading],
      own: Reading,
      where: String
  ): Seq[(String, String)] =
    for {
      (call, actual) <- calls.zip(answers)
      expected = call.model(window, own)
      if !agrees(actual, expected)
    } yield {
      val shown = window.filter(_.value.nonEmpty).map(r => s"${r.time}: ${r.value.get}")
      call.text -> s"in $where is $actual, not $expected, over ${shown.mkString(", ")}"
    }

  /** Shows the first wrong answer of each call. */
  private def expectNone(complaints: Seq[(String, String)]): Unit = {
    val first = complaints.reverse.toMap.map { case (call, why) => s"$call $why" }
    assert(first.isEmpty, first.mkString("\n", "\n", "\n"))
  }

  private val frames = Seq[(String, Int, (Seq[Reading], Int) => Seq[Reading])](
    ("ROWS 2 PRECEDING", 1000, (rows, i) => rows.slice(i - 2, i + 1)),
    (
      "ROWS BETWEEN 30 PRECEDING AND 3 FOLLOWING",
      1000,
      (rows, i) => rows.slice(i - 30, i + 4)
    ),
    (
      "RANGE BETWEEN 40 PRECEDING AND CURRENT ROW",
      40,
      (rows, i) => rows.take(i + 1).filter(_.time >= rows(i).time - 40)
    )
  )

  for {
    mode <- Seq("CODEGEN_ONLY", "NO_CODEGEN")
    ((frame, span, window), n) <- frames.zipWithIndex
  } test(s"$frame, $mode", Thorough) {
    val partitions = readings(seed = n.toLong, rows = 60)
    create(partitions)
    withSettings(
      "spark.sql.codegen.factoryMode" -> mode,
      "spark.sql.codegen.wholeStage" -> (mode == "CODEGEN_ONLY").toString
    )(check(partitions, frame, calls(span))(window))
  }

  test("sums, means with weights and steps in order") {
    val partitions = readings(seed = 3, rows = 60)
    create(partitions)
    val (frame, span, window) = frames(1)
    val some =
      calls(span).filter(_.text.matches("(cusum|funnel|ewm|ema|decayed|time|linear).*"))
    check(partitions, frame, some)(window)
  }

  test("growing frames, and the whole partition", Thorough) {
    val partitions = readings(seed = 5, rows = 60)
    create(partitions)
    val all = calls(span = 1000)
    check(partitions, "ROWS UNBOUNDED PRECEDING", all)((rows, i) => rows.take(i + 1))
    check(
      partitions,
      "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
      all,
      ranOn = false
    )((rows, _) => rows)
  }

  test("GROUP BY, by parts that are merged", Thorough) {
    val partitions = readings(seed = 6, rows = 60)
    create(partitions)
    val anyOrder = calls(span = 1000).filterNot(_.isOrdered)
    val groups = spark
      .sql(
        s"SELECT k, ${anyOrder.map(_.text).mkString(", ")} FROM (SELECT /*+ REPARTITION(4) */ * " +
          "FROM extreme) GROUP BY k"
      )
      .collect()
    assert(groups.length == partitions.size)
    expectNone(groups.toSeq.flatMap { row =>
      val of = partitions(row.getLong(0))
      complaints(row.toSeq.tail, anyOrder, of, of.head, "GROUP BY")
    })
  }

  test("100,000 NULLs between values", Thorough) {
    val nulls = 100000
    val ends = Seq(3.0, 5e-324, -0.0, 1e300, 2.5)
    val values = ends.map(Option(_)) ++ Seq.fill(nulls)(None) ++ ends.reverse.map(Option(_))
    val rows = values.zip(None +: values).zipWithIndex.map { case ((x, before), i) =>
      Reading(i.toLong, i + 1L, x, before)
    }
    val partitions = Map(0L -> rows)
    create(partitions)
    val some = Seq(4, 5, 200, 5000, nulls, nulls + 4, nulls + 5, nulls + 6, nulls + 9)
    check(
      partitions,
      s"ROWS ${2 * nulls} PRECEDING",
      calls(span = 400000),
      rowsOf = some.mkString("id IN (", ", ", ")")
    )((all, i) => all.take(i + 1))
  }
}

object ExtremeValuesSuite {
  import PlainAnswers._

  /** @param isOrdered whether the answer depends on the order of rows, or on the current row */
  private final case class Call(text: String, isOrdered: Boolean, model: Model) {
    def name: String = text.takeWhile(_ != '(')
  }

  private val Ordinary = Seq(None, Some(1.0), Some(2.5), Some(-3.0), Some(7.0), Some(2.5))
  private val Great = Seq(Some(1e300), Some(-1e300), Some(5e-324), Some(-5e-324), Some(-0.0))
  private val Infinite = Seq(Some(Double.PositiveInfinity), Some(Double.NegativeInfinity))

  private val Mixes: Seq[Seq[Option[Double]]] = Seq(
    Ordinary,
    Ordinary ++ Great :+ Some(0.0),
    Ordinary.map(_.map(math.abs)) ++ Seq(Some(1e300), Some(5e-324)),
    Seq.fill(4)(Ordinary).flatten :+ Some(Double.PositiveInfinity),
    Seq.fill(4)(Ordinary).flatten ++ Infinite,
    Seq.fill(6)(Ordinary).flatten :+ Some(Double.NaN),
    Ordinary ++ Great ++ Infinite :+ Some(Double.NaN)
  )

  private def byTime(r: Reading): Long = r.time
  private def byEights(r: Reading): Long = r.time / 8

  /** @param span the longest time from a window's first row to its last */
  private def calls(span: Int): Seq[Call] = anyOrder(span) ++ inOrder(span) ++ ofRow

  private def anyOrder(span: Int): Seq[Call] = Seq[(String, Model)](
    "geometric_mean(x)" -> geometricMean,
    "product(x)" -> product,
    "max_count(x)" -> extremeCount(identity),
    "min_count(x)" -> extremeCount(_.reverse),
    "value_range(x)" -> range,
    "relative_variation(x)" -> relativeVariation,
    "coefficient_of_variation(x)" -> coefficientOfVariation,
    "m4(x, t)" -> m4,
    "ewm_mean(x, t, 3)" -> ewmByTime(3, byTime),
    "ewm_mean(x, s, '0.5 seconds')" -> ewmByTime(0.5, byTime),
    "decayed_sum(x, t, 3)" -> decayedSum(3, byTime),
    "decayed_sum(x, t, 0.1)" -> decayedSum(0.1, byTime),
    "decayed_sum(x, u, 2)" -> decayedSum(2, byEights),
    "decayed_sum(x, s, '0.5 seconds')" -> decayedSum(0.5, byTime),
    "decayed_count(t, 3)" -> decayedCount(3, byTime),
    "decayed_count(s, '0.5 seconds')" -> decayedCount(0.5, byTime),
    s"linear_weighted_avg(x, t, $span)" -> linear(byTime, span.toDouble, isMean = true),
    s"linear_weighted_sum(x, t, $span)" -> linear(byTime, span.toDouble, isMean = false),
    s"linear_weighted_sum(x, s, '$span seconds')" -> linear(
      byTime,
      span.toDouble,
      isMean = false
    ),
    "max_n(x, 3)" -> list(sorted(_.reverse).andThen(_.take(3))),
    "min_n(x, 3)" -> list(sorted(identity).andThen(_.take(3))),
    "max_n_by(id, x, 3)" -> argsOfExtremes(-1, 3),
    "min_n_by(id, x, 3)" -> argsOfExtremes(1, 3),
    "value_counts(x)" -> valueCounts,
    "top_counts(x, 3)" -> topCounts(3),
    "entropy(x)" -> entropy,
    "mode_share(x)" -> modeShare
  ).map { case (text, model) => Call(text, isOrdered = false, model) }

  private def inOrder(span: Int): Seq[Call] = Seq[(String, Model)](
    "arg_max(id, x)" -> argOfExtreme(identity),
    "arg_min(id, x)" -> argOfExtreme(_.reverse),
    "longest_increasing_run(x, t)" -> longestRun,
    "counter_increase(x)" -> increase,
    "counter_rate(x, t)" -> rate,
    "counter_rate(x, s)" -> rate,
    "cusum(x)" -> cusum,
    "funnel(x > 0)" -> funnel(Seq(above0)),
    "funnel(x > 0, x < 0, x IS NULL, x > 0, x > 0)" ->
      funnel(Seq(above0, below0, _.isEmpty, above0, above0)),
    s"funnel(${Seq.fill(15)("x > 0").mkString(", ")})" -> funnel(Seq.fill(15)(above0)),
    "ewm_mean_by_rows(x, 0.4)" -> ewmByRows(0.4),
    "ewm_mean_by_rows(x, 0.99)" -> ewmByRows(0.99),
    "ewm_mean_by_rows(x, 1)" -> ewmByRows(1),
    "ewm_mean(x, u, 2)" -> ewmByTime(2, byEights),
    "ema(x, t, 3)" -> ema(3, byTime),
    "ema(x, t, 0.001)" -> ema(0.001, byTime),
    "ema(x, u, 2)" -> ema(2, byEights),
    "ema(x, s, '90 seconds')" -> ema(90, byTime),
    "time_weighted_avg(x, t)" -> timeWeighted(byTime, None),
    "time_weighted_avg(x, u)" -> timeWeighted(byEights, None),
    "time_weighted_avg(x, s)" -> timeWeighted(byTime, None),
    s"time_weighted_avg(x, t, p, $span)" -> timeWeighted(byTime, Some(span.toDouble)),
    s"time_weighted_avg(x, s, p, '$span seconds')" -> timeWeighted(byTime, Some(span.toDouble)),
    "first_n(x, 3)" -> list(_.take(3)),
    "last_n(x, 3)" -> list(_.takeRight(3)),
    "last_distinct_n(x, 3)" -> list(lastDistinct.andThen(_.takeRight(3))),
    "monoid_agg(x, x -> struct(x AS a, x AS z), (o, y) -> struct(o.a AS a, y.z AS z))" ->
      firstAndLast
  ).map { case (text, model) => Call(text, isOrdered = true, model) }

  private val ofRow: Seq[Call] =
    ranks.map { case (name, model) => Call(s"$name(x)", isOrdered = true, model) }
}
