package io.sash.spark.lambdas

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}

import org.scalatest.tags.Slow

import io.sash.spark.{SashSuite, TestTable, Thorough}

/** `monoid_agg`: lambdas make a monoid, and it is an aggregate like Spark's own. */
@Slow
class MonoidAggSuite extends SashSuite {
  private val spread =
    "monoid_agg(%s, x -> struct(x AS lo, x AS hi), (a, b) -> struct(least(a.lo, b.lo) AS lo, " +
      "greatest(a.hi, b.hi) AS hi), a -> a.hi - a.lo)"

  private val concatenated = "array_join(collect_list(s), '')"

  /** What a monoid has to answer, in words of Spark that share nothing with it. */
  private val known: Seq[(String, String)] = Seq(
    (spread.format("i"), "max(i) - min(i)"),
    (spread.format("x"), "max(x) - min(x)"),
    (spread.format("large"), "max(large) - min(large)"),
    (spread.format("ts"), "max(ts) - min(ts)"),
    // one cell
    ("monoid_agg(l, x -> x, (a, b) -> a + b)", "sum(l)"),
    ("monoid_agg(i, x -> CAST(x AS BIGINT), (a, b) -> a + b, a -> a, 0)", "coalesce(sum(i), 0)"),
    ("monoid_agg(i, x -> 1, (a, b) -> a + b, a -> a, 0)", "CAST(count(i) AS INT)"),
    ("monoid_agg(s, x -> x, (a, b) -> concat(a, b), a -> a, '')", concatenated),
    (
      "monoid_agg(s, x -> x, (a, b) -> a || b)",
      s"nullif($concatenated, IF(count(s) = 0, '', '?'))"
    ),
    // several inputs
    (
      "monoid_agg(struct(s, i), x -> named_struct('s', x.s, 'i', x.i), (a, b) -> IF(b.i IS NOT " +
        "NULL AND (a.i IS NULL OR b.i >= a.i), b, a), a -> IF(a.i IS NULL, NULL, a.s))",
      "max_by(s, i)"
    ),
    // a column of structs, some of them NULL
    ("monoid_agg(st, x -> x.a, (a, b) -> least(a, b))", "min(st.a)"),
    // partials that may be NULL
    (
      "monoid_agg(i, x -> IF(x > 0, x, NULL), (a, b) -> greatest(a, b))",
      "max(IF(i > 0, i, NULL))"
    ),
    (
      "monoid_agg(i, x -> IF(x > 0, struct(x AS m), NULL), (a, b) -> CASE WHEN a IS NULL THEN b " +
        "WHEN b.m > a.m THEN b ELSE a END, a -> a.m)",
      "max(IF(i > 0, i, NULL))"
    ),
    // lambdas in lambdas
    (
      "monoid_agg(ar, x -> transform(x, y -> y * 2), (a, b) -> zip_with(a, b, (p, q) -> " +
        "greatest(p, q)), a -> a[0], array(-1000, -1000))",
      "coalesce(2 * max(ar[0]), -1000)"
    ),
    (
      "monoid_agg(ar, x -> array(x[1]), (a, b) -> filter(concat(a, b), y -> y <= a[0] AND y <= b[0]), " +
        "a -> a[0])",
      "min(ar[1])"
    ),
    // what the optimizer replaces
    (
      "monoid_agg(i, x -> nvl(x, 0), (a, b) -> IF(a BETWEEN b AND 1000, a, b), a -> nullif(a, 7))",
      "nullif(max(i), 7)"
    ),
    ("monoid_agg(x, x -> x, (a, b) -> greatest(a, b), NULL, NULL, NULL, true)", "max(x)"),
    (
      "monoid_agg(x, x -> x, (a, b) -> IF(b < a, b, a), NULL, NULL, NULL, (a, b) -> b < a)",
      "min(x)"
    ),
    ("monoid_agg(l, x -> x, (a, b) -> a + b, a -> a, NULL, (w, o) -> w - o)", "sum(l)"),
    (
      "monoid_agg(l, x -> x, (a, b) -> a + b, a -> a, 0L, (w, o) -> w - o)",
      "coalesce(sum(l), 0L)"
    ),
    (
      "monoid_agg(i, x -> struct(x AS s, 1 AS n), (a, b) -> struct(a.s + b.s AS s, a.n + b.n AS n), " +
        "a -> a.s / a.n, NULL, (w, o) -> struct(w.s - o.s AS s, w.n - o.n AS n), false)",
      "CAST(sum(i) AS INT) / count(i)"
    ),
    // another column, in the lift
    ("monoid_agg(i, x -> x * h, (a, b) -> coalesce(a + b, a, b))", "CAST(sum(i * h) AS INT)"),
    ("monoid_agg(i + 1, x -> x, (a, b) -> greatest(a, b))", "max(i + 1)")
  )

  /** The same values; whether a column may be NULL is not compared. */
  private def compare(monoids: DataFrame, plain: DataFrame): Unit = {
    def sorted(frame: DataFrame): Seq[Seq[Any]] =
      frame.collect().toSeq.map(_.toSeq).sortBy(_.head.asInstanceOf[Int])
    val (actual, expected) = (sorted(monoids), sorted(plain))
    assert(expected.nonEmpty && actual.length == expected.length)
    val names = plain.columns
    for ((a, e) <- actual.zip(expected); i <- e.indices if a(i) != e(i))
      fail(s"${names(i)} of ${e.head} is ${e(i)}, but the monoid's is ${a(i)}")
  }

  private val modes = Seq(("CODEGEN_ONLY", "true"), ("NO_CODEGEN", "false"))

  private def inEachMode(body: => Unit): Unit = modes.foreach { case (factory, whole) =>
    withClue(s"$factory\n") {
      withSettings(
        "spark.sql.codegen.factoryMode" -> factory,
        "spark.sql.codegen.wholeStage" -> whole
      )(body)
    }
  }

  test("in moving windows, with Sash on and off") {
    TestTable.create(spark)
    val frames = Seq("ROWS 5 PRECEDING", "ROWS BETWEEN 9 PRECEDING AND 8 PRECEDING")
    // those that share a window would hide what one of them alone does
    for (
      calls <- known.grouped(known.length / 2 + 1) ++ known.take(Thorough.times(4)).map(Seq(_));
      frame <- frames
    ) {
      def query(of: Seq[String]): String = {
        val over = s" OVER (PARTITION BY g ORDER BY uq $frame)"
        of.map(inWindow(_, over)).mkString("SELECT id, ", ", ", " FROM data")
      }
      inEachMode {
        checkSlides(query(calls.map(_._1)))
        compare(spark.sql(query(calls.map(_._1))), spark.sql(query(calls.map(_._2))))
      }
    }
  }

  /** The call over a window; in a formula of several aggregates, each of them. */
  private def inWindow(call: String, over: String): String =
    if (call.startsWith("monoid_agg")) call + over
    else
      "(?<![a-z_])(max|min|sum|count|collect_list|max_by)\\((?:[^()]|\\([^()]*\\))*\\)".r
        .replaceAllIn(call, m => java.util.regex.Matcher.quoteReplacement(m.matched + over))

  test("in GROUP BY, of groups and of nothing") {
    TestTable
      .create(spark)
      .coalesce(1)
      .sortWithinPartitions("g", "uq")
      .createOrReplaceTempView("sorted")
    val rests = Seq("FROM sorted GROUP BY g", "FROM sorted WHERE id < 0")
    val scattered = "FROM data WHERE id % 7 = 2"
    // arrival decides in concatenations and ties only, and is the same for both where sorted
    val commutative = known.filterNot(_._1.contains("(s"))
    for ((rest, calls) <- rests.map(_ -> known) :+ (scattered -> commutative)) {
      val key = if (rest.contains("BY g")) "coalesce(g, -1)" else "0"
      def query(of: Seq[String]): String = s"SELECT $key, ${of.mkString(", ")} $rest"
      inEachMode(compare(spark.sql(query(calls.map(_._1))), spark.sql(query(calls.map(_._2)))))
    }
  }

  private def monoid(call: String): LambdaMonoid = {
    TestTable.create(spark)
    spark
      .sql(s"SELECT $call FROM data GROUP BY g")
      .queryExecution
      .optimizedPlan
      .expressions
      .flatMap(_.collect { case m: LambdaMonoid => m })
      .head
  }

  test("a partial that is a struct is kept as its fields, without NULLs where there are none") {
    val cells = monoid(spread.format("d")).aggBufferAttributes
    assert(cells.map(_.name) == Seq("lo", "hi", "empty") && cells.forall(!_.nullable))
    val structs = monoid(spread.format("d")).mergeExpressions.flatMap(_.collect {
      case s if s.dataType.typeName == "struct" => s
    })
    assert(structs.isEmpty)
    val nullable = monoid("monoid_agg(d, x -> IF(x > 0, struct(x AS m), NULL), (a, b) -> a)")
    assert(nullable.aggBufferAttributes.map(_.name) == Seq("partial", "empty"))
  }

  test("the algorithm is that of the laws") {
    def algorithms(call: String): Seq[String] = {
      TestTable.create(spark)
      val frame = spark.sql(s"SELECT $call OVER (ORDER BY uq ROWS 5 PRECEDING) FROM data")
      sliding(frame).flatMap(_.calls.map(_.algorithm.title))
    }
    val sum = "monoid_agg(l, x -> x, (a, b) -> a + b"
    assert(algorithms(s"$sum)") == Seq("Two-Stacks Lite"))
    assert(algorithms(s"$sum, NULL, 0, (w, o) -> w - o)") == Seq("SlickDeque (Inv)"))
    val max = "monoid_agg(l, x -> x, (a, b) -> greatest(a, b)"
    assert(algorithms(s"$max, NULL, NULL, NULL, true)") == Seq("SlickDeque (Non-Inv)"))
    assert(algorithms(s"$max, NULL, NULL, NULL, false)") == Seq("Two-Stacks Lite"))
  }

  test("HAVING, ORDER BY, subqueries, several at once, and a call in a view") {
    TestTable.create(spark)
    val call = spread.format("i")
    spark.sql(
      s"CREATE OR REPLACE TEMPORARY VIEW spreads AS SELECT g, $call AS c FROM data GROUP BY g"
    )
    val plain = "SELECT coalesce(g, -1), max(i) - min(i) AS c FROM data GROUP BY g HAVING c > 3"
    compare(
      spark
        .sql(
          s"SELECT coalesce(g, -1), $call AS c FROM data GROUP BY g HAVING $call > 3 ORDER BY c"
        ),
      spark.sql(plain)
    )
    compare(spark.sql("SELECT coalesce(g, -1), c FROM spreads WHERE c > 3"), spark.sql(plain))
    val ordered = spark.sql(s"SELECT coalesce(g, -1) FROM data GROUP BY g ORDER BY $call, 1")
    assert(
      ordered.collect().toSeq == spark
        .sql("SELECT coalesce(g, -1) FROM data GROUP BY g ORDER BY max(i) - min(i), 1")
        .collect()
        .toSeq
    )
    val row =
      spark.sql(s"SELECT $call, ${spread.format("h")}, (SELECT $call FROM data) FROM data").head()
    val expected = spark
      .sql("SELECT max(i) - min(i), max(h) - min(h), max(i) - min(i) FROM data")
      .head()
    assert(row.toSeq == expected.toSeq)
  }

  private def failure(call: String): AnalysisException = {
    TestTable.create(spark)
    intercept[AnalysisException](spark.sql(s"SELECT $call FROM data").collect())
  }

  test("types that do not close are an error that shows both") {
    val error = failure("monoid_agg(small, x -> x, (a, b) -> a + b)")
    assert(error.getCondition == "DATATYPE_MISMATCH.UNEXPECTED_RETURN_TYPE")
    assert(error.getMessage.contains("combine of `monoid_agg`"))
    assert(
      error.getMessage.contains("DECIMAL(10,2)") && error.getMessage.contains("DECIMAL(11,2)")
    )
    val names = failure("monoid_agg(i, x -> struct(x AS a), (a, b) -> struct(b.a AS b))")
    assert(
      names.getMessage.contains("STRUCT<a: INT>") && names.getMessage.contains("STRUCT<b: INT>")
    )
    val others = Seq(
      "identity" -> "a -> a, 'none'",
      "inverse" -> "a -> a, 0, (w, o) -> true",
      "selective" -> "a -> a, 0, NULL, (a, b) -> a"
    )
    for ((part, rest) <- others) {
      val error = failure(s"monoid_agg(i, x -> x, (a, b) -> a, $rest)")
      assert(error.getCondition == "DATATYPE_MISMATCH.UNEXPECTED_RETURN_TYPE")
      assert(error.getMessage.contains(s"$part of `monoid_agg`"))
    }
  }

  test("errors are Spark's") {
    def condition(call: String): String = withClue(call)(failure(call).getCondition)
    assert(condition("monoid_agg(i)").startsWith("WRONG_NUM_ARGS"))
    assert(condition("monoid_agg(i, x -> x)").startsWith("WRONG_NUM_ARGS"))
    val arity = "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"
    assert(condition("monoid_agg(i, (x, y) -> x, (a, b) -> a)") == arity)
    assert(condition("monoid_agg(i, x -> x, a -> a)") == arity)
    assert(condition("monoid_agg(i, x -> x, (a, b) -> a, (a, b) -> a)") == arity)
    val column = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert(condition("monoid_agg(i, x -> nowhere, (a, b) -> a)") == column)
    assert(condition("monoid_agg(i, x -> x, (a, b) -> nowhere)") == column)
    // a column of the table, which would be of some row, nobody knows which
    val captured = failure("monoid_agg(i, x -> x, (a, b) -> a + b + h)")
    assert(captured.getCondition == column && captured.getMessage.contains("[`a`, `b`]"))
    assert(
      condition("monoid_agg(i, x -> x, (a, b) -> a, a -> a, i)").endsWith("NON_FOLDABLE_INPUT")
    )
    val maps = "monoid_agg(i, x -> map(x, x), (a, b) -> a, NULL, NULL, NULL"
    assert(condition(s"$maps, true)") == "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
    assert(condition("monoid_agg(i, x -> x, (a, b) -> max(a))") == "NESTED_AGGREGATE_FUNCTION")
    assert(
      condition("monoid_agg(d, x -> x, (a, b) -> a + rand())") ==
        "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION"
    )
    assert(condition("monoid_agg(i, x -> x.a, (a, b) -> a)").contains("INVALID_EXTRACT"))
    assert(condition("monoid_agg(i, x -> x, (a, b) -> nofunction(a))") == "UNRESOLVED_ROUTINE")
    assert(condition("monoid_agg(i, x -> x, (a, b) -> a + (SELECT 1))").contains("SUBQUERY"))
    val outer = "(SELECT monoid_agg(t.id, x -> x + data.i, (a, b) -> a) FROM range(3) AS t)"
    assert(condition(outer).endsWith("MIXED_OUTER_LOCAL_REFERENCES"))
    assert(
      condition("monoid_agg(DISTINCT i, x -> x, (a, b) -> a)").contains("UNSUPPORTED_SYNTAX")
    )
  }

  test("the time and the user of a query are one in all of it") {
    val call = "monoid_agg(id, x -> struct(current_timestamp() AS t, x AS x), (a, b) -> IF(" +
      "a.t = current_timestamp(), b, NULL), a -> IF(current_user() IS NULL, NULL, a.t), " +
      "struct(current_timestamp() AS t, 0L AS x))"
    inEachMode {
      for (over <- Seq("", "OVER (ORDER BY id ROWS 2 PRECEDING)")) {
        val answers = spark.sql(s"SELECT $call $over <=> current_timestamp() FROM range(5)")
        assert(answers.distinct().collect().toSeq == Seq(Row(true)), over)
      }
    }
  }

  test("HAVING sees the columns that a lambda captures") {
    val call = "monoid_agg(x, x -> x + k + y, (a, b) -> a + b)"
    val groups = spark.sql(
      s"SELECT k FROM VALUES (1, 2, 3), (1, 2, 4), (5, -6, 1) AS t(k, x, y) GROUP BY k HAVING $call > 0"
    )
    assert(groups.collect().toSeq == Seq(Row(1)))
  }

  test("no row of a NULL is lifted") {
    // the lift would fail
    val call = "monoid_agg(s, x -> assert_true(x IS NOT NULL) IS NULL, (a, b) -> a AND b)"
    TestTable.create(spark)
    inEachMode {
      checkSlides(s"SELECT id, $call OVER (ORDER BY uq ROWS 3 PRECEDING) AS c FROM data")
      assert(spark.sql(s"SELECT $call FROM data").head() == Row(true))
    }
  }

  test("windows that spill hold the same partials") {
    TestTable.create(spark)
    withSettings("spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY") {
      checkSlides(
        "SELECT id, monoid_agg(s, x -> struct(x AS a, length(x) AS n), (a, b) -> struct(a.a || b.a " +
          "AS a, a.n + b.n AS n)) OVER (ORDER BY uq ROWS BETWEEN 3 PRECEDING AND 60 FOLLOWING) AS c " +
          "FROM data"
      )
    }
  }
}
