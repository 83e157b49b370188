package io.sash.spark.aggregates

import java.time.{Instant, LocalDate}

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, Row}

import org.scalatest.tags.Slow

import io.sash.core.algebra.Aggregation
import io.sash.papers.algebra
import io.sash.papers.algebra.Point
import io.sash.spark.{ErrorCondition, RowEquality, SashSuite, TestTable, Thorough, WindowFrames}
import io.sash.spark.names.AllSashFunctions

/** The functions of the registry against core's operations of the same names, and Spark's plan. */
@Slow
class FunctionsSuite extends SashSuite {

  /** Spark's order of doubles: one 0, and a NaN above all. */
  private val sparks: Ordering[Double] =
    Ordering.Double.TotalOrdering.on((x: Double) => x + 0.0)
  private val ranking = new algebra.Ranking(sparks, sparks.reverse)
  private val integers: algebra.Ranking[Long] = implicitly

  private def double(value: Any): Double = value.asInstanceOf[Number].doubleValue
  private def long(value: Any): Long = value.asInstanceOf[Number].longValue

  /** What core says of rows, oldest first, of which those with a NULL are left out. */
  private def says[In, Out](operation: Aggregation[In, _, Out])(in: Row => In)(
      out: Out => Any
  )(rows: Seq[Row]): Any =
    if (rows.isEmpty) null else out(operation.aggregate(rows.map(in): _*))

  private def ofDouble(operation: Aggregation[Double, _, Double]): Seq[Row] => Any =
    says(operation)(r => double(r.get(0)))(identity[Any])

  private def counts(rows: Seq[Row], operation: Seq[Row] => Any): Any =
    Option(operation(rows)).getOrElse(0L)

  private def points(rows: Seq[Row]): Seq[Point] =
    rows.map(r => Point(long(r.get(1)), double(r.get(0))))

  private def m4(rows: Seq[Row]): Any = algebra.M4.aggregate(points(rows): _*).orNull match {
    case m: algebra.M4 =>
      Row.fromSeq(Seq(m.first, m.last, m.min, m.max).map(p => Row(p.time, p.value)))
    case _ => null
  }

  private def run(rows: Seq[Row]): Any =
    algebra.LongestIncreasingRun
      .aggregate(points(rows): _*)
      .map(r => Row(r.start, r.end, r.length))
      .orNull

  private def picked(operation: Aggregation[(Double, Any), _, Option[Any]])(rows: Seq[Row]): Any =
    operation.aggregate(rows.map(r => (double(r.get(1)), r.get(0))): _*).orNull

  private def deviation(rows: Seq[Row]): Any =
    if (rows.length < 2) null else ofDouble(algebra.CoefficientOfVariation)(rows)

  private def ofSome(rows: Seq[Row])(answer: => Any): Any = if (rows.isEmpty) null else answer

  /** The numbers of a column. */
  private def numbers(rows: Seq[Row], column: Int): Seq[Double] = rows.map(_.get(column)).map {
    case t: Instant   => t.getEpochSecond * 1e6 + t.getNano / 1000
    case d: LocalDate => d.toEpochDay.toDouble
    case n            => double(n)
  }

  private def increase(values: Seq[Double]): Double =
    values.zip(values.drop(1)).map { case (a, b) => if (b < a) b else b - a }.sum

  private def rate(perSecond: Double)(rows: Seq[Row]): Any = {
    val (values, times) = (numbers(rows, 0), numbers(rows, 1))
    if (rows.length < 2 || times.last <= times.head) null
    else increase(values) / ((times.last - times.head) / perSecond)
  }

  private def decayed(halfLife: Double)(rows: Seq[Row]): Any = ofSome(rows) {
    val (values, times) = (numbers(rows, 0), numbers(rows, 1))
    val weights = times.map(t => math.pow(0.5, (times.max - t) / halfLife))
    weights.zip(values).map { case (w, x) => w * x }.sum / weights.sum
  }

  private def decayedByRows(alpha: Double)(rows: Seq[Row]): Any = {
    val weighted = rows.reverse.zipWithIndex.collect {
      case (r, age) if !r.isNullAt(0) => (math.pow(1 - alpha, age), double(r.get(0)))
    }
    if (weighted.isEmpty) null
    else weighted.map { case (w, x) => w * x }.sum / weighted.map(_._1).sum
  }

  private def moved(halfLife: Double)(rows: Seq[Row]): Any = ofSome(rows) {
    val (values, times) = (numbers(rows, 0), numbers(rows, 1))
    times.zip(times.drop(1)).zip(values.drop(1)).foldLeft(values.head) {
      case (before, ((from, to), x)) =>
        val d = math.pow(0.5, (to - from) / halfLife)
        d * before + (1 - d) * x
    }
  }

  private def held(rows: Seq[Row]): Any = ofSome(rows) {
    val (values, times) = (numbers(rows, 0), numbers(rows, 1))
    val all = values.zip(times.zip(times.drop(1)).map { case (from, to) => to - from })
    if (all.map(_._2).sum == 0) null else all.map(a => a._1 * a._2).sum / all.map(_._2).sum
  }

  private def lined(span: Double, isMean: Boolean)(rows: Seq[Row]): Any = ofSome(rows) {
    val (values, times) = (numbers(rows, 0), numbers(rows, 1))
    val weights = times.map(t => 1 - (times.max - t) / span)
    val sum = weights.zip(values).map { case (w, x) => w * x }.sum
    if (isMean) sum / weights.sum else sum
  }

  private def neverBelow0(rows: Seq[Row]): Any =
    ofSome(rows)(numbers(rows, 0).foldLeft(0.0)((s, x) => math.max(0.0, s + x)))

  private def column(rows: Seq[Row]): Seq[Any] = rows.map(_.get(0))

  private def counted(rows: Seq[Row]): Map[Any, Long] =
    column(rows).groupBy(identity).map { case (value, all) => value -> all.length.toLong }

  /** The youngest of equal values stay. */
  private def distinct(values: Seq[Any]): Seq[Any] = values.reverse.distinct.reverse

  private def byValue(sign: Int, n: Int)(rows: Seq[Row]): Any = {
    // a NULL is the least argument
    def place(r: Row) = (long(r.get(1)), if (r.isNullAt(0)) Long.MinValue else long(r.get(0)))
    val sorted = rows.sortBy(place)
    (if (sign < 0) sorted.reverse else sorted).take(n).map(_.get(0))
  }

  /** Calls, the column without which a row does not count, and an answer in plain code. */
  private lazy val byPlainCode = Seq[(String, String, Seq[Row] => Any)](
    ("counter_increase(i)", "i", rows => ofSome(rows)(increase(numbers(rows, 0)))),
    ("counter_rate(i, uq)", "i", rate(1)),
    ("counter_rate(i, ts)", "i", rows => rate(1e6)(rows.filterNot(_.isNullAt(1)))),
    ("counter_rate(i, dt)", "dt", rows => rate(1.0 / 86400)(rows.filterNot(_.isNullAt(0)))),
    ("cusum(i)", "i", neverBelow0),
    ("ewm_mean(x, uq, 3)", "x", decayed(3)),
    (
      "ewm_mean(i, ts, INTERVAL '30' HOUR)",
      "i",
      rows => decayed(30 * 3600e6)(rows.filterNot(_.isNullAt(1)))
    ),
    (
      "ewm_mean(i, dt, INTERVAL '36' HOUR)",
      "i",
      rows => decayed(1.5)(rows.filterNot(_.isNullAt(1)))
    ),
    ("ewm_mean_by_rows(x, 0.3)", "0.3", decayedByRows(0.3)),
    ("ema(x, uq, 3)", "x", moved(3)),
    ("time_weighted_avg(i, uq)", "i", held),
    ("linear_weighted_avg(i, uq, 100000)", "i", lined(100000, isMean = true)),
    ("linear_weighted_avg(x, uq, 99999.5)", "x", lined(99999.5, isMean = true)),
    ("linear_weighted_sum(x, uq, 200000)", "x", lined(200000, isMean = false)),
    ("first_n(s, 2)", "s", rows => column(rows).take(2)),
    ("last_n(s, 3)", "s", rows => column(rows).takeRight(3)),
    ("last_n(st, 1)", "st", rows => column(rows).takeRight(1)),
    ("last_distinct_n(tie, 4)", "tie", rows => distinct(column(rows)).takeRight(4)),
    ("max_n(d, 3)", "d", rows => numbers(rows, 0).sorted(sparks.reverse).take(3)),
    ("min_n(d, 3)", "d", rows => numbers(rows, 0).sorted(sparks).take(3)),
    ("max_n_by(tie, i, 2)", "i", byValue(-1, 2)),
    ("min_n_by(uq, h, 3)", "h", byValue(1, 3)),
    ("value_counts(s)", "s", rows => counted(rows)),
    ("value_counts(tie)", "tie", rows => counted(rows)),
    (
      "top_counts(tie, 3)",
      "tie",
      rows =>
        counted(rows).toSeq
          .sortBy { case (value, count) => (-count, long(value)) }
          .take(3)
          .map { case (value, count) => Row(value, count) }
    ),
    (
      "entropy(tie)",
      "tie",
      rows =>
        ofSome(rows) {
          val shares = counted(rows).values.map(_.toDouble / rows.length)
          -shares.map(p => p * math.log(p) / math.log(2)).sum
        }
    ),
    (
      "mode_share(s)",
      "s",
      rows => ofSome(rows)(counted(rows).values.max.toDouble / rows.length)
    )
  )

  /** Calls, the column without which a row does not count, and core's answer. */
  private val byCore = Seq[(String, String, Seq[Row] => Any)](
    ("geometric_mean(x)", "x", ofDouble(algebra.GeometricMean)),
    ("geometric_mean(small)", "small", ofDouble(algebra.GeometricMean)),
    ("geometric_mean(i)", "i", ofDouble(algebra.GeometricMean)),
    ("product(x)", "x", ofDouble(algebra.Product[Double])),
    ("max_count(d)", "d", rows => counts(rows, doubleCount(algebra.MaxCount(ranking)))),
    ("min_count(d)", "d", rows => counts(rows, doubleCount(algebra.MinCount(ranking)))),
    ("max_count(h)", "h", rows => counts(rows, longCount(algebra.MaxCount(integers)))),
    ("min_count(h)", "h", rows => counts(rows, longCount(algebra.MinCount(integers)))),
    ("arg_max(id, tie)", "tie", rows => picked(algebra.ArgMax[Double, Any])(rows)),
    ("arg_min(id, tie)", "tie", rows => picked(algebra.ArgMin[Double, Any])(rows)),
    (
      "arg_max(id, d)",
      "d",
      rows => picked(algebra.ArgMax[Double, Any](ranking))(rows)
    ),
    (
      "arg_min(id, d)",
      "d",
      rows => picked(algebra.ArgMin[Double, Any](ranking))(rows)
    ),
    ("value_range(x)", "x", ofDouble(algebra.Range)),
    ("value_range(d)", "d", ofDouble(algebra.Range)),
    ("relative_variation(x)", "x", ofDouble(algebra.RelativeVariation)),
    ("relative_variation(i)", "i", ofDouble(algebra.RelativeVariation)),
    ("coefficient_of_variation(x)", "x", deviation _),
    ("m4(x, uq)", "x", rows => m4(rows)),
    ("m4(i, uq)", "i", rows => m4(rows)),
    ("longest_increasing_run(x, uq)", "x", rows => run(rows)),
    ("longest_increasing_run(tie, uq)", "tie", rows => run(rows))
  ) ++ byPlainCode

  private def doubleCount(operation: Aggregation[Double, _, Long]): Seq[Row] => Any =
    says(operation)(r => double(r.get(0)))(identity[Any])

  private def longCount(operation: Aggregation[Long, _, Long]): Seq[Row] => Any =
    says(operation)(r => long(r.get(0)))(identity[Any])

  /** The arguments of a call, as the fields of a struct. */
  private def arguments(call: String): String =
    call.substring(call.indexOf('(') + 1, call.length - 1)

  private def checkByCore(cases: Seq[(String, String, Seq[Row] => Any)])(
      query: Seq[String] => String
  ): Unit = {
    val asked = cases.map { case (call, _, _) => s"collect_list(struct(${arguments(call)}))" }
    val rows = spark.sql(query(cases.map(_._1))).collect().toSeq
    val inputs = spark.sql(query(asked)).collect().map(r => (r.get(0), r)).toMap[Any, Row]
    assert(rows.nonEmpty && rows.length == inputs.size)
    for (row <- rows; ((call, column, core), i) <- cases.zipWithIndex) {
      val rowsOf = inputs(row.get(0)).getSeq[Row](i + 1)
      val needed = arguments(call).split(", ").indexOf(column)
      val expected = core(rowsOf.filter(r => !r.isNullAt(needed)))
      val actual = row.get(i + 1)
      if (!same(actual, expected)) fail(s"$call of $rowsOf is $expected, not $actual")
    }
  }

  private def same(actual: Any, expected: Any): Boolean = (actual, expected) match {
    case (a: Row, e: Row)                              => a.toSeq.corresponds(e.toSeq)(same)
    case (a: collection.Seq[_], e: Seq[_])             => a.corresponds(e)(same)
    case (null, e)                                     => e == null
    case (_, null)                                     => false
    case (a: java.math.BigDecimal, e)                  => a.doubleValue == double(e)
    case (a: Number, e: Number) if a.doubleValue.isNaN => e.doubleValue.isNaN
    case (a: Number, e: Number) if a == e              => true
    case (a: Number, e: Number) =>
      Math.abs(a.doubleValue - e.doubleValue) <= 1e-9 * Math.max(1.0, Math.abs(e.doubleValue))
    case (a, e) => a == e
  }

  test("core's answers in moving windows") {
    TestTable.create(spark)
    for (frame <- Seq("ROWS 7 PRECEDING", "ROWS BETWEEN 30 PRECEDING AND 20 PRECEDING"))
      checkByCore(byCore) { calls =>
        val columns = calls.map(c => s"$c OVER w").mkString(", ")
        s"SELECT id, $columns FROM data WINDOW w AS (PARTITION BY g ORDER BY uq $frame)"
      }
  }

  test("core's answers in GROUP BY") {
    TestTable
      .create(spark)
      .coalesce(1)
      .sortWithinPartitions("g", "uq") // so that no aggregate sorts by g, and loses the order
      .createOrReplaceTempView("inorder")
    for (codegen <- Seq("true", "false"))
      withSettings("spark.sql.codegen.wholeStage" -> codegen) {
        for (rest <- Seq("GROUP BY g", "WHERE id < 0"))
          checkByCore(byCore) { calls =>
            val key = if (rest.contains("BY")) "g" else "0"
            s"SELECT $key, ${calls.mkString(", ")} FROM inorder $rest"
          }
      }
  }

  test("partial aggregation over many partitions, where arrival does not matter") {
    TestTable.create(spark).repartition(7).createOrReplaceTempView("scattered")
    val ordered = Seq(
      "arg_max",
      "arg_min",
      "longest",
      "counter",
      "cusum",
      "ewm_mean_by_rows(x, 0.3)",
      "ema",
      "time_weighted",
      "first_n",
      "last_"
    )
    val others =
      byCore.filterNot(c => ordered.exists(c._1.startsWith(_))).map { case (call, column, core) =>
        def byTime(rows: Seq[Row]): Seq[Row] =
          if (call.startsWith("m4")) rows.sortBy(r => long(r.get(1))) else rows
        (call, column, (rows: Seq[Row]) => core(byTime(rows)))
      }
    checkByCore(others)(calls => s"SELECT g, ${calls.mkString(", ")} FROM scattered GROUP BY g")
  }

  private val types: Seq[String] =
    (for (
      f <- Seq("max_count", "min_count");
      c <- Seq("b", "l", "f", "large", "s", "sc", "bin", "bo", "dt", "ts", "st", "ar", "ym")
    )
      yield s"$f($c)") ++
      (for (f <- Seq("arg_max", "arg_min"); c <- Seq("f", "large", "s", "sc", "ts", "st", "ar"))
        yield s"$f(st, $c)") ++
      (for (c <- Seq("h", "i", "l", "small", "large", "f", "ym", "dti"))
        yield s"value_range($c)") ++
      (for (
        f <- Seq("geometric_mean", "relative_variation", "product");
        c <- Seq("b", "l", "d", "small")
      )
        yield s"$f($c)") ++
      // a mean next to 0 would be all rounding
      Seq("d", "x", "abs(l)").map(c => s"coefficient_of_variation($c)") ++
      (for (
        f <- Seq("m4", "longest_increasing_run"); t <- Seq("ts", "s");
        c <- Seq("d", "large", "sc")
      ) yield s"$f($c, $t)") ++
      (for (f <- Seq("first_n", "last_n"); c <- Seq("b", "sc", "bin", "ts", "st", "ar", "large"))
        yield s"$f($c, 2)") ++
      (for (
        f <- Seq("last_distinct_n", "max_n", "min_n");
        c <- Seq("l", "f", "sc", "bin", "bo", "dt", "tn", "st", "ar", "ym", "small")
      ) yield s"$f($c, 3)") ++
      (for (f <- Seq("max_n_by", "min_n_by"); c <- Seq("f", "sc", "ts"))
        yield s"$f(st, $c, 2)") ++
      (for (c <- Seq("b", "small", "f")) yield s"counter_increase($c)") ++
      (for (
        f <- Seq("value_counts(%s)", "top_counts(%s, 3)", "entropy(%s)", "mode_share(%s)");
        c <- Seq("f", "d", "sc", "bin", "bo", "dt", "st", "ar", "large")
        // as keys of a map in Scala, neither two NaN nor two arrays of bytes are equal
        if !(f.startsWith("value") && Seq("f", "d", "bin").contains(c))
        // any of the strings that a collation finds equal stands for all
        if !(c == "sc" && (f.startsWith("value") || f.startsWith("top")))
      ) yield f.format(c)) ++
      (for (c <- Seq("tn", "dt", "d")) yield s"counter_rate(x, $c)") ++
      Seq("ewm_mean(small, l, 2)", "ema(h, tn, INTERVAL 1 DAY)", "ema(x, ts, '90 minutes')") ++
      Seq("decayed_sum(small, l, 2)", "decayed_count(tn, INTERVAL 1 DAY)") ++
      Seq(
        "time_weighted_avg(small, tn, f, '2 days')",
        "linear_weighted_avg(small, tn, '20000 days')",
        "linear_weighted_sum(f, l, 10000000000)",
        "cusum(small - 2)",
        "funnel(small > 1, l > 0, bo, s > 'b', i IS NULL)",
        "ewm_mean_by_rows(f, 1)",
        "last_n(i, 2) FILTER (WHERE x > 1)"
      ) :+
      "geometric_mean(x) FILTER (WHERE i > 0)" :+ "arg_max(s, i) FILTER (WHERE x > 1)"

  test("every type, with Sash on and off, with generated code and without") {
    TestTable.create(spark)
    val random = new Random(5L)
    for ((calls, group) <- types.grouped(8).zipWithIndex) {
      val columns = calls.zipWithIndex.map { case (call, i) =>
        val name =
          if (call.matches("(geo|rel|coe|pro|cou|cus|ewm|ema|dec|ent|tim|lin).*")) s"approx_$i"
          else s"c$i"
        s"$call OVER w AS $name"
      }
      val query = s"SELECT id, ${columns.mkString(", ")} FROM data WINDOW w AS "
      // in the sample, every other group is compiled
      for (compiled <- Seq(true, false) if Thorough.isOn || compiled == (group % 2 == 0)) {
        withSettings(
          "spark.sql.codegen.factoryMode" -> (if (compiled) "CODEGEN_ONLY" else "NO_CODEGEN"),
          "spark.sql.codegen.wholeStage" -> compiled.toString
        )(checkSlides(query + WindowFrames.rows(random)))
      }
    }
  }

  test("arg_max and arg_min run SlickDeque (Non-Inv)") {
    TestTable.create(spark)
    for (f <- Seq("arg_max", "arg_min")) {
      val frame = spark.sql(s"SELECT $f(s, i) OVER (ORDER BY uq ROWS 5 PRECEDING) FROM data")
      assert(
        sliding(frame).flatMap(_.calls.map(_.algorithm.title)) == Seq("SlickDeque (Non-Inv)")
      )
    }
  }

  test("sliding_agg takes them by name") {
    TestTable.create(spark)
    val over = "OVER (PARTITION BY g ORDER BY uq ROWS 5 PRECEDING)"
    for (
      (words, call) <- Seq(
        "s, 'arg_max', i" -> "arg_max(s, i)",
        "h, 'max_count'" -> "max_count(h)"
      )
    ) {
      val named =
        spark.sql(s"SELECT id, sliding_agg($words) $over AS c FROM data").collect().toSeq
      val plain = spark.sql(s"SELECT id, $call $over AS c FROM data").collect().toSeq
      assert(RowEquality.difference(plain, named).isEmpty)
    }
  }

  test("DISTINCT, and a column's name is the call") {
    TestTable.create(spark)
    val row =
      spark.sql(
        "SELECT geometric_mean(DISTINCT tie), product(DISTINCT h) FROM data WHERE tie > 0"
      )
    assert(row.columns.toSeq == Seq("geometric_mean(DISTINCT tie)", "product(DISTINCT h)"))
    val set =
      spark.sql("SELECT DISTINCT tie FROM data WHERE tie > 0").collect().map(_.getInt(0).toDouble)
    assert(same(row.head().get(0), algebra.GeometricMean.aggregate(set.toSeq: _*)))
  }

  test("value_range in a view overflows in the ANSI mode in which the view was made") {
    for (ansi <- Seq("true", "false")) {
      withSettings("spark.sql.ansi.enabled" -> ansi)(
        spark.sql(
          "CREATE OR REPLACE TEMPORARY VIEW ranges AS SELECT value_range(x) OVER (ORDER BY x " +
            "ROWS 1 PRECEDING) AS r FROM VALUES (-9223372036854775807), (1) AS t(x)"
        )
      )
      withSettings("spark.sql.ansi.enabled" -> (!ansi.toBoolean).toString) {
        def rows = spark.table("ranges").collect()
        if (ansi.toBoolean)
          assert(ErrorCondition.of(intercept[Exception](rows)) == "ARITHMETIC_OVERFLOW")
        else assert(rows.map(_.getLong(0)).toSet == Set(0L, -9223372036854775808L))
      }
    }
  }

  test("value_range overflows as max - min does") {
    val data = "FROM VALUES (2147483647), (-2) AS tab(x)"
    withSettings("spark.sql.ansi.enabled" -> "true") {
      assert(
        checkFails(s"SELECT value_range(x) $data") == checkFails(s"SELECT max(x) - min(x) $data")
      )
    }
    withSettings("spark.sql.ansi.enabled" -> "false") {
      val row = spark.sql(s"SELECT value_range(x), max(x) - min(x) $data").head()
      assert(row.get(0) == row.get(1))
    }
  }

  private def condition(call: String): String = {
    TestTable.create(spark)
    intercept[AnalysisException](spark.sql(s"SELECT $call FROM data")).getCondition
  }

  test("wrong numbers of arguments are Spark's error") {
    for (function <- AllSashFunctions.All) {
      val most = function.arguments.length + function.repeats
      val many = Seq.fill(most + 1)("i").mkString(", ")
      for (call <- Seq(s"${function.name}()", s"${function.name}($many)"))
        assert(condition(call).startsWith("WRONG_NUM_ARGS"), call)
    }
  }

  test("wrong types are Spark's errors") {
    val map = "map(i, i)"
    for (call <- Seq(s"max_count($map)", s"arg_max(i, $map)", s"m4(i, $map)", s"m4($map, i)"))
      assert(condition(call).startsWith("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"), call)
    assert(condition(s"longest_increasing_run($map, i)").contains("INVALID_ORDERING_TYPE"))
    for (
      f <- Seq(
        "geometric_mean",
        "relative_variation",
        "coefficient_of_variation",
        "value_range",
        "product"
      )
    )
      assert(condition(s"$f(ar)") == "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", f)
  }

  test("a line holds the rows of its own frame, of any type of time") {
    val queries = Seq(
      "SELECT ts, linear_weighted_avg(x, ts, 0.1) OVER (ORDER BY ts RANGE 0.1 PRECEDING) a FROM " +
        "VALUES (1.0, 1D), (1.1, 3D) AS t(ts, x)" -> Seq(1.0, 3.0),
      "SELECT max(a) FROM (SELECT linear_weighted_avg(1, ts, 0.3D) OVER (ORDER BY ts RANGE 0.3D " +
        "PRECEDING) a FROM (SELECT id / 10D AS ts FROM range(200)))" -> Seq(1.0)
    )
    queries.foreach { case (query, expected) =>
      val answers = spark.sql(query).collect().map(r => r.getDouble(r.length - 1)).toSeq
      answers.zip(expected).foreach { case (a, e) => assert(math.abs(a - e) < 1e-9, query) }
      assert(answers.length == expected.length)
    }
    val error = intercept[Exception] {
      spark
        .sql(
          "SELECT linear_weighted_sum(id, id, 2) OVER (ORDER BY id ROWS 9 PRECEDING) FROM range(9)"
        )
        .collect()
    }
    assert(error.getMessage.contains("a row of the window is older than that"))
  }

  test("a number of time that no double is equal to is an error") {
    val nanos = "(VALUES (1700000000000000000, 1D), (1700000000000000100, 3D) AS t(ts, x))"
    Seq(
      "time_weighted_avg(x, ts)",
      "counter_rate(x, ts)",
      "ewm_mean(x, ts, 100)",
      "ema(x, ts, 100)",
      "decayed_sum(x, ts, 100)",
      "decayed_count(ts, 100)",
      "linear_weighted_avg(x, ts, 100)"
    ).foreach { call =>
      val error = intercept[Exception](spark.sql(s"SELECT $call FROM $nanos").collect())
      assert(error.getMessage.contains(s"`ts` in `${call.takeWhile(_ != '(')}`"), call)
      assert(error.getMessage.contains("take a coarser unit"), call)
    }
    val exact = "(VALUES (9007199254740991, 1D), (9007199254740992, 3D) AS t(ts, x))"
    assert(spark.sql(s"SELECT time_weighted_avg(x, ts) FROM $exact").head().getDouble(0) == 1.0)
  }

  test("infinite numbers, and one 0") {
    val over = "OVER (ORDER BY id ROWS 3 PRECEDING)"
    val inf = "double('inf')"
    val rows = spark
      .sql(
        s"""SELECT cusum(x) $over, ewm_mean(y, id, $inf) $over, ema(y, t, 1) $over,
           |  last_distinct_n(z, 5) $over
           |FROM VALUES (1, -$inf, 2, -$inf, 0.0D), (2, $inf, 4, 2D, -0.0D) AS r(id, x, y, t, z)
           |""".stripMargin
      )
      .collect()
      .map(_.toSeq)
      .toSeq
    val least = Seq(0.0)
    val (first, second) = (Seq[Any](0.0, 2.0, 2.0), Seq[Any](Double.PositiveInfinity, 3.0, 4.0))
    assert(rows == Seq(first :+ least, second :+ least))
  }
}
